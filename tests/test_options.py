"""Options: a dataclass is flags, a --config file and options.json at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.options import REQUIRED, flag, option, parse, positional, to_json


@dataclass(frozen=True)
class Options:
    task: str = positional("what to learn")
    model: str = option(REQUIRED, "the encoder")
    epochs: int = option(2, "passes over train")
    learning_rate: float = option(2e-5, "step size")
    max_length: int | None = option(None, "cut here")
    precision: Literal["auto", "fp32"] = option("auto", "number format")
    label: tuple[str, ...] = option((), "map a label", metavar="FROM=TO")
    clean: bool = option(False, "clean the text, 100% of it")
    out: Path | None = option(None, "where to")


@dataclass(frozen=True)
class Many:
    files: tuple[str, ...] = positional("files", metavar="FILE")
    out: str = option("x", "where to")


def parsed(*words: str) -> Options:
    return parse(Options, words, prog="heldout learn", description="d")


def refused(*words: str) -> str:
    with pytest.raises(Refused) as error:
        parsed(*words)
    assert "\n" not in str(error.value)
    return str(error.value)


def config(folder: Path, text: str) -> str:
    path = folder / "options.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_flags_become_fields_of_their_types() -> None:
    options = parsed("t", "--model", "m", "--epochs", "3", "--learning-rate", "1e-3", "--max-length", "7", "--out", "o")
    assert options == Options("t", "m", 3, 1e-3, 7, out=Path("o"))


def test_what_is_not_given_has_its_default() -> None:
    assert parsed("t", "--model", "m") == Options("t", "m")


def test_a_repeatable_flag_keeps_its_order() -> None:
    assert parsed("t", "--model", "m", "--label", "b=c", "--label", "a=b").label == ("b=c", "a=b")


def test_a_bool_is_switched_on_and_off() -> None:
    assert parsed("t", "--model", "m", "--clean").clean
    assert not parsed("t", "--model", "m", "--clean", "--no-clean").clean


def test_options_may_stand_between_positionals() -> None:
    assert parse(Many, ["a", "--out", "o", "b"], prog="p", description="").files == ("a", "b")
    assert parsed("--model", "m", "t", "--epochs", "3").task == "t"


def test_an_unknown_flag_names_the_nearest() -> None:
    message = refused("t", "--model", "m", "--epoch", "3")
    assert "--epoch is not an option of heldout learn; did you mean --epochs?" in message


def test_a_flag_is_never_abbreviated() -> None:
    assert "--learning-rat is not an option" in refused("t", "--model", "m", "--learning-rat", "1")


def test_an_unknown_flag_with_its_value_after_an_equals_sign_is_named_without_it() -> None:
    assert "--moddel is not an option of heldout learn; did you mean --model?" in refused("t", "--moddel=m")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("t", "--model", "m", "--epochs", "two"), "--epochs: invalid int value: 'two'"),
        (("t", "--model", "m", "--epochs"), "--epochs: expected one argument"),
        (("t", "--model", "m", "--precision", "fp8"), "--precision: invalid choice: 'fp8'"),
        (("t",), "needs --model: the encoder"),
        (("--model", "m"), "needs TASK: what to learn"),
        (("t", "u", "--model", "m"), "u is not an option"),
        (("t", "--model", "m", "--config", "nowhere.toml"), "nowhere.toml: the --config file cannot be read"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(words: tuple[str, ...], says: str) -> None:
    assert says in refused(*words)


def test_a_required_list_may_not_be_empty(tmp_path: Path) -> None:
    for words in ([], ["--config", config(tmp_path, "files = []")]):
        with pytest.raises(Refused, match="needs FILES: files"):
            parse(Many, words, prog="p", description="")


def test_a_config_file_gives_any_option(tmp_path: Path) -> None:
    text = 'task="t"\nmodel="m"\nlearning-rate=1\nmax_length=5\nlabel=["a=b"]\nclean=true\nprecision="fp32"\nout="o"'
    options = parsed("--config", config(tmp_path, text))
    assert options == Options("t", "m", 2, 1.0, 5, "fp32", ("a=b",), True, Path("o"))
    assert type(options.learning_rate) is float


def test_the_command_line_stands_over_the_config_file(tmp_path: Path) -> None:
    path = config(tmp_path, 'model = "m"\nepochs = 9\nlabel = ["a=b"]')
    options = parsed("t", "--epochs", "1", "--label", "c=d", "--config", path)
    assert (options.epochs, options.label) == (1, ("c=d",))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("epoch = 1", "unknown option 'epoch'; did you mean epochs?"),
        ("[learn]\nepochs = 1", "unknown option 'learn'"),
        ("epochs = 2.5", "epochs = 2.5 must be a int"),
        ("epochs = true", "epochs = True must be a int"),
        ('clean = "yes"', "clean = 'yes' must be a bool"),
        ("model = 1", "model = 1 must be a str"),
        ('epochs = ["1"]', "epochs = ['1'] must be a int"),
        ("label = [1]", "label = 1 must be a str"),
        ('precision = "fp8"', "precision = 'fp8' must be one of auto, fp32"),
        ("precision = []", "must be one of auto, fp32"),
        ("max-length = 1\nmax_length = 2", "'max_length' is given twice"),
        ("epochs = ", "not TOML"),
    ],
)
def test_a_wrong_config_file_is_named_with_its_key(tmp_path: Path, text: str, says: str) -> None:
    message = refused("t", "--model", "m", "--config", config(tmp_path, text))
    assert "options.toml: " in message and says in message


def test_options_json_has_plain_values() -> None:
    plain = to_json(Options("t", "m", label=("a=b",), out=Path("o")))
    assert (plain["label"], plain["out"], plain["max_length"]) == (["a=b"], "o", None)


def test_help_shows_each_option_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parsed("--help")
    shown = capsys.readouterr().out
    assert stop.value.code == 0
    assert "(default 2)" in shown and "100% of it" in shown
    assert all(flag(name) in shown for name in ("model", "learning_rate", "label"))


words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(lambda w: not w.startswith("-"))


@given(task=words, model=words, epochs=st.integers(0), labels=st.lists(words, max_size=3))
def test_any_words_come_through_as_they_are(task: str, model: str, epochs: int, labels: list[str]) -> None:
    argv: list[Any] = [task, "--model", model, "--epochs", str(epochs)]
    for label in labels:
        argv += ["--label", label]
    assert parsed(*argv) == Options(task, model, epochs, label=tuple(labels))
