from pathlib import Path

import pytest

from heldout.data.prepare import parse_tests
from heldout.options import parse
from heldout.scripts.finetune import Options

RECIPES = sorted((Path(__file__).parent.parent / "recipes").glob("*.toml"))


def test_there_are_five_recipes():
    assert len(RECIPES) == 5


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_a_call_and_its_files_are_there(path, real_data):
    words = ["sentiment", "--config", str(path), "--model", "m", "--out", "o"]
    options = parse(Options, words, prog="heldout finetune", description="")
    sources = [options.train, *([options.dev] if options.dev else []), *options.exclude]
    sources += parse_tests(options.test).values()
    assert all((real_data / source).exists() for source in sources)
    assert len(sources) >= 2
