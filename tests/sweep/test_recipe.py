"""A recipe is read back as it was written, by Python's own reader of TOML and by our --config."""

import tomllib
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from heldout.options import REQUIRED, option, parse, positional
from heldout.sweep.recipe import recipe


@dataclass(frozen=True)
class Options:
    task: str = positional("")
    model: str = option(REQUIRED, "")
    learning_rate: float = option(1e-4, "")
    dropout: float | None = option(None, "")
    label: tuple[str, ...] = option((), "")
    freeze: bool = option(False, "")
    epochs: int = option(2, "")
    out: str = option("here", "")


TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)
OPTIONS = st.builds(
    Options,
    task=TEXT,
    model=TEXT,
    learning_rate=st.floats(allow_nan=False, allow_infinity=False),
    dropout=st.none() | st.floats(0, 1),
    label=st.lists(TEXT).map(tuple),
    freeze=st.booleans(),
    epochs=st.integers(-(2**40), 2**40),
)


@given(OPTIONS, TEXT)
def test_a_recipe_gives_the_options_it_was_made_of(tmp_path_factory, options, comment):
    text = recipe(replace(options, out="elsewhere"), without=("out",), comment=[comment])
    path = tmp_path_factory.mktemp("r") / "r.toml"
    path.write_text(text, encoding="utf-8")
    words = ["--config", str(path)]
    assert parse(Options, words, prog="p", description="") == options
    assert "out" not in tomllib.loads(text)


def test_what_is_as_it_always_is_stands_in_no_recipe():
    text = recipe(Options(task="sentiment", model="m"), without=(), comment=["one", "two\nthree"])
    assert text == '# one\n# two three\ntask = "sentiment"\nmodel = "m"\n'
