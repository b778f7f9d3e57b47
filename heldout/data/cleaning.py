"""Markup that comes with reviews off web pages: ``<br />`` becomes a space, ``&quot;`` and its like their character.

>>> clean('Dull.<br /><br />But the &quot;hero&quot; is fun &notable')
'Dull.  But the "hero" is fun &notable'
"""

import html
import re
from collections.abc import Iterable

#: What ``clean`` does, as the ledger records it.
CLEANING = ("<br /> to a space", "character entities to characters")
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
#: Only closed entities: html.unescape alone would turn the "&not" of "&notable" into a sign.
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
#: In how many rows ``auto`` looks for a <br />.
LOOK = 1000


def clean(text: str) -> str:
    """The text with line breaks of HTML as spaces and closed character entities as characters."""
    if "<" in text:
        text = BREAK.sub(" ", text)
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text) if "&" in text else text


def has_markup(texts: Iterable[str]) -> bool:
    """Whether a <br /> stands in any of the texts."""
    return any("<" in text and BREAK.search(text) is not None for text in texts)
