r"""The language of ``--slice NAME=EXPRESSION``: a small grammar, read by our own parser; no string is ever executed.

    tokens>200                                    longer than 200 words (text between white space)
    text~/yeah right/i                            holds these words; flags i (case), m (lines), s (. matches line ends)
    domain=books or about.domain='dvd and more'   what is known about the example; text with spaces stands in quotes
    premise.words > 2 and not hypothesis.words>premise.words
    gold=negative      gold.words>=4      about.impossible      seen.lost>0

Grammar (``or`` binds least, ``not`` most; parentheses group):

    expression := all ("or" all)*         all := one ("and" one)*        one := "not" one | "(" expression ")" | test
    test  := field | field (= | == | != | < | <= | > | >=) value | field (~ | !~) (/pattern/flags | "text")
    field := name ("." name)*             value := number | "text" | 'text' | word | count

Right of a comparison a bare word is text, unless it is a count (words, tokens, characters, or a field's: gold.words).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from heldout.errors import Refused

#: Longer expressions and patterns, and deeper nesting, are refused: nobody means them.
LONGEST, LONGEST_PATTERN, DEEPEST = 2000, 200, 40
COUNTS = ("words", "tokens", "characters", "count")
ORDER = ("<", "<=", ">", ">=")
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.-]))|(?P<name>[^\W\d][\w-]*(?:\.\w[\w-]*)*)
    |(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<op>==|!=|<=|>=|!~|[=<>~()])|(?P<word>\w[\w.-]*))""",
    re.VERBOSE | re.DOTALL,
)
PATTERN = re.compile(r"\s*/(?P<pattern>(?:\\.|[^/\\])*)/(?P<flags>[a-z]*)", re.DOTALL)


@dataclass(frozen=True)
class Field:
    """A field by its dotted name: ("premise", "words")."""

    path: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether it is a number by its name: so many words of something."""
        return self.path[-1] in COUNTS and self.path[0] != "about"


@dataclass(frozen=True)
class Compare:
    """A field against a number, a text or a count; ``op`` is one of = != < <= > >=."""

    field: Field
    op: str
    value: "float | str | Field"


@dataclass(frozen=True)
class Match:
    """Whether a pattern is found in a field; ``op`` is ~ or !~."""

    field: Field
    op: str
    pattern: str
    flags: str = ""


@dataclass(frozen=True)
class Not:
    """The opposite."""

    inner: "Tree"


@dataclass(frozen=True)
class Both:
    """Two conditions joined by ``word``: and, or."""

    word: str
    left: "Tree"
    right: "Tree"


#: A Field alone asks whether the example has it and it is neither empty, zero nor false.
Tree: TypeAlias = Field | Compare | Match | Not | Both


def parse(source: str) -> Tree:
    """The tree of an expression; Refused with the place where it cannot be read.

    >>> parse("tokens>200 and domain = books") == Both(
    ...     "and", Compare(Field(("tokens",)), ">", 200.0), Compare(Field(("domain",)), "=", "books"))
    True
    """
    if len(source) > LONGEST:
        raise Refused(f"{source[:40]!r}…: {len(source)} characters; an expression has at most {LONGEST}")
    parser = _Parser(source)
    tree = parser.joined("or", lambda: parser.joined("and", parser.one))
    if parser.kind:
        raise parser.wrong("and, or, or the end")
    return tree


def show(tree: Tree) -> str:
    """An expression that parses to this tree, written in one way for all that mean the same tree.

    >>> show(parse("not(a  ==  'b c')"))
    'not a = "b c"'
    """
    if isinstance(tree, Field):
        return ".".join(tree.path)
    if isinstance(tree, Match):
        return f"{show(tree.field)} {tree.op} /{re.sub(_BARE_SLASH, _slash, tree.pattern)}/{tree.flags}"
    if isinstance(tree, Compare):
        return f"{show(tree.field)} {tree.op} {_shown(tree.value)}"
    if isinstance(tree, Not):
        return f"not {_inside(tree.inner, ('and', 'or'))}"
    # Joined from the left: on the right the same word needs parentheses too.
    left = _inside(tree.left, ("or",) if tree.word == "and" else ())
    return f"{left} {tree.word} {_inside(tree.right, ('or', tree.word))}"


_BARE_SLASH = re.compile(r"\\.|/", re.DOTALL)


def _slash(found: "re.Match[str]") -> str:
    return r"\/" if found[0] == "/" else found[0]


def _shown(value: "float | str | Field") -> str:
    if isinstance(value, Field):
        return show(value)
    if isinstance(value, str):
        return show_text(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def show_text(text: str) -> str:
    """A text in quotes, as an expression has it.

    >>> print(show_text('say "no"'))
    "say \\"no\\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _inside(tree: Tree, wrapped: tuple[str, ...]) -> str:
    return f"({show(tree)})" if isinstance(tree, Both) and tree.word in wrapped else show(tree)


class _Parser:
    """Recursive descent over the tokens, one ahead."""

    def __init__(self, source: str) -> None:
        self.source, self.at, self.depth = source, 0, 0
        self.kind, self.value, self.start = "", "", 0
        self.step()

    def step(self) -> str:
        """The value of the token at hand; the next one is read."""
        value, found = self.value, TOKEN.match(self.source, self.at)
        self.start = self.at + len(self.source[self.at :]) - len(self.source[self.at :].lstrip())
        if found and found.lastgroup:
            self.kind, self.value, self.at = found.lastgroup, found[found.lastgroup], found.end()
        else:
            # What is no token is an error where it is met: a pattern is read by the ~ before it.
            self.kind, self.value = ("odd" if self.start < len(self.source) else ""), self.source[self.start :][:1]
        return value

    def wrong(self, expected: str) -> Refused:
        """The error at the token at hand."""
        here = f"{self.value!r} at character {self.start + 1}" if self.kind else "its end"
        return Refused(f"{self.source!r}: {here}: expected {expected}")

    def joined(self, word: str, read: Callable[[], Tree]) -> Tree:
        """One or more of these, joined by a word."""
        tree = read()
        while self.kind == "name" and self.value == word:
            self.step()
            tree = Both(word, tree, read())
        return tree

    def one(self) -> Tree:
        """A condition with its ``not``, a group, or a test."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Refused(f"{self.source!r}: nested more than {DEEPEST} deep at character {self.start + 1}")
        try:
            if self.kind == "name" and self.value == "not":
                self.step()
                return Not(self.one())
            if self.value == "(" and self.kind == "op":
                self.step()
                tree = self.joined("or", lambda: self.joined("and", self.one))
                if self.value != ")" or self.kind != "op":
                    raise self.wrong("a closing )")
                self.step()
                return tree
            return self.test()
        finally:
            self.depth -= 1

    def test(self) -> Tree:
        """A field, alone or compared."""
        if self.kind != "name" or self.value in ("and", "or"):
            raise self.wrong("a field such as tokens, text, gold or about.domain")
        field = Field(tuple(self.step().split(".")))
        if self.kind != "op" or self.value in "()":
            return field
        if self.value in ("~", "!~"):
            return self.pattern(field)
        op = self.step().replace("==", "=")
        return Compare(field, op, self.operand(op))

    def operand(self, op: str) -> "float | str | Field":
        """What a field is compared with."""
        kind, value = self.kind, self.value
        field = Field(tuple(value.split("."))) if kind == "name" else None
        if kind not in ("number", "name", "text", "word"):
            raise self.wrong("a number, a word or text in quotes")
        if op in ORDER and kind != "number" and not (field and field.counts):
            raise self.wrong(f"a number behind {op}, or a count such as premise.words")
        self.step()
        if kind == "number":
            return float(value)
        if field and field.counts:
            return field
        return _unquoted(value) if kind == "text" else value

    def pattern(self, field: Field) -> Match:
        """A regular expression between slashes, or text that must stand there as it is."""
        if field.counts:
            raise Refused(f"{self.source!r}: {show(field)} is a number; compare it with > or <, ~ looks into text")
        op, found = self.value, PATTERN.match(self.source, self.at)
        if found:
            pattern, flags, self.at = found["pattern"].replace(r"\/", "/"), found["flags"], found.end()
            self.step()
        else:
            self.step()
            if self.kind != "text":
                raise self.wrong("a pattern between slashes, such as ~/yeah right/i")
            pattern, flags = re.escape(_unquoted(self.step())), ""
        _refuse_pattern(pattern, flags, self.source)
        return Match(field, op, pattern, flags)


def _refuse_pattern(pattern: str, flags: str, source: str) -> None:
    if len(pattern) > LONGEST_PATTERN or not pattern:
        raise Refused(f"{source!r}: the pattern has {len(pattern)} characters; give 1 to {LONGEST_PATTERN}")
    if set(flags) - FLAGS.keys() or len(set(flags)) != len(flags):
        raise Refused(f"{source!r}: the flags {flags!r} of the pattern must be of i, m and s, each once")
    try:
        compiled(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise Refused(f"{source!r}: /{pattern}/ is no regular expression ({error})") from None


def compiled(pattern: str, flags: str) -> "re.Pattern[str]":
    """The regular expression with its flags."""
    return re.compile(pattern, sum(FLAGS[flag] for flag in flags))


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
