from pathlib import Path

import pytest

from heldout.data import task_names
from heldout.data.prepare import parse_tests
from heldout.options import parse
from heldout.scripts import distill, embed, finetune, pretrain

ALL = sorted((Path(__file__).parent.parent / "recipes").glob("*.toml"))
EMBEDDING = [path for path in ALL if '\nkind = "' in path.read_text()]
PRETRAINING = [path for path in ALL if "\ncorpus = " in path.read_text()]
DISTILLING = [path for path in ALL if path.stem.startswith("distill-")]
RECIPES = [path for path in ALL if path not in [*PRETRAINING, *DISTILLING, *EMBEDDING]]


def test_there_are_recipes():
    assert len(RECIPES) >= 10
    assert len(PRETRAINING) >= 1
    assert len(DISTILLING) >= 2
    assert len(EMBEDDING) >= 1


@pytest.mark.parametrize("path", EMBEDDING, ids=lambda path: path.stem)
def test_every_recipe_of_word_vectors_is_a_call_and_its_files_are_there(path, real_data):
    options = parse(embed.Options, ["train", "--config", str(path), "--out", "o"], prog="heldout embed", description="")
    assert options.sources
    assert all((real_data / source).exists() for source in options.sources)


@pytest.mark.parametrize("path", PRETRAINING, ids=lambda path: path.stem)
def test_every_recipe_of_pretraining_is_a_call_and_its_files_are_there(path, real_data):
    words = ["--config", str(path), "--tokenizer", "t", "--out", "o"]
    options = parse(pretrain.Options, words, prog="heldout pretrain", description="")
    assert options.corpus
    assert all((real_data / source).exists() for source in options.corpus)


@pytest.mark.parametrize("path", DISTILLING, ids=lambda path: path.stem)
def test_every_recipe_of_distillation_is_a_call_and_its_files_are_there(path, real_data):
    words = ["--config", str(path), "--teacher", "t", "--out", "o"]
    options = parse(distill.Options, words, prog="heldout distill", description="")
    sources = [*options.train, *options.exclude, *parse_tests(options.test).values()]
    assert options.task in task_names()
    assert all((real_data / source).exists() for source in sources)
    assert options.layers
    assert len(sources) >= 2


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_a_call_and_its_files_are_there(path, real_data):
    words = ["--config", str(path), "--model", "m", "--out", "o"]
    words += [] if "\ntask = " in path.read_text() else ["sentiment"]
    options = parse(finetune.Options, words, prog="heldout finetune", description="")
    sources = [*options.train, *([options.dev] if options.dev else []), *options.exclude]
    sources += parse_tests(options.test).values()
    assert options.task in task_names()
    # What stands behind # names the articles (documents, films) of a source that are used.
    files = [part.split(":")[0] for source in sources for part in source.split("#")]
    assert all((real_data / file).exists() for file in files if file != "suite")
    assert len(sources) >= 2
