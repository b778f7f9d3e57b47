"""The model card: the hub's own reader understands it, and its numbers are those of the scores."""

import re

import pytest
import yaml
from huggingface_hub import ModelCard
from huggingface_hub.repocard_data import eval_results_to_model_index, model_index_to_eval_results
from hypothesis import given
from hypothesis import strategies as st

from heldout.eval.card import write_card
from heldout.eval.card.yaml import dump
from heldout.eval.report.markdown import escaped
from heldout.eval.report.wording import visible
from heldout.eval.run_scores import score_run
from heldout.ledger import Ledger, Split, write_ledger
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import read_json, write_json, write_lines

CARD = Card("sentiment", "1", "label", ("bad", "good"), ("accuracy", "nll", "ece"))
NASTY = "x](javascript:alert(1)) | <script>alert(2)</script> `y` **z**\n# no heading\x00"


def make(folder, options, *, sources=None, card=CARD, right=8):
    """A run of 60 texts a set, ``right`` of ten right, longer ones worse; with a baseline that is half wrong."""
    for home, hits in ((folder, right), (folder / "baselines" / "majority", 5)):
        write_json(home / "card.json", card.to_json())
        write_json(home / "options.json", options if home is folder else {"kind": "majority"})
        write_json(home / "environment.json", {"versions": {"heldout": "0.1.0", "numpy": "2.0"}})
        ledger = Ledger()
        for name in ("dev", "films"):
            gold, said = [], []
            for k in range(60):
                words = ["fine"] * (300 if k % 3 == 0 else 5)
                gold.append(Example(f"{name}{k}", {"text": f"film {k} was {' '.join(words)}"}, card.labels[k % 2]))
                hit = k % 10 < hits and not (home is folder and k % 3 == 0 and k % 2)
                answer = k % 2 if hit else 1 - k % 2
                said.append(Prediction(gold[-1].id, card.labels[answer], [0.9, 0.1] if answer == 0 else [0.1, 0.9]))
            write_lines(home / "gold" / f"{name}.jsonl", (row.to_json() for row in gold))
            write_lines(home / "predictions" / f"{name}.jsonl", (row.to_json() for row in said))
            source = (sources or {}).get(name, f"{name}.csv")
            ledger = ledger.with_split(name, Split(source, content_hash(gold), 60, {}, {"empty text": 2}))
        ledger = ledger.with_split("train", Split((sources or {}).get("train", "train.csv"), "a" * 64, 120, {}))
        write_ledger(home, ledger)
        score_run(home, replicates=60)
    (folder / "model").mkdir()
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    options = {"model": "someone/tiny-bert", "learning_rate": 1e-05, "max_length": 64, "test": ["films=org/films:test"]}
    sources = {"train": "org/films@plain:train", "films": "org/films:test"}
    return make(tmp_path_factory.mktemp("card") / "my-run", options, sources=sources)


def test_the_hub_reads_the_card_and_its_results_are_the_scores(run):
    path = write_card(run)
    assert path == run / "README.md"
    card = ModelCard.load(path)
    data = card.data
    assert (data.library_name, data.pipeline_tag, data.base_model) == (
        "transformers",
        "text-classification",
        "someone/tiny-bert",
    )
    assert data.datasets == ["org/films"] and data.metrics == ["accuracy", "nll", "ece"] and data.language is None
    scores = read_json(run / "scores" / "films.json")["metrics"]
    assert {r.metric_type: r.metric_value for r in data.eval_results} == {m: scores[m]["value"] for m in CARD.metrics}
    assert {r.dataset_type for r in data.eval_results} == {"org/films"}


def test_the_model_index_goes_through_the_hubs_results_and_back(run):
    write_card(run)
    written = yaml.safe_load((run / "README.md").read_text().split("---\n")[1])["model-index"]
    name, results = model_index_to_eval_results(written)
    assert len(results) == 3 and eval_results_to_model_index(name, results) == written


def test_the_text_has_intervals_the_baseline_where_it_breaks_and_what_it_was_trained_on(run):
    text = (write_card(run) or run).read_text()
    entry = read_json(run / "scores" / "films.json")["metrics"]["accuracy"]
    value, low, high = (100 * entry[key] for key in ("value", "low", "high"))
    assert f"| {value:.1f}% ({low:.1f}–{high:.1f}) |" in text and "accuracy of majority" in text
    assert "| learning-rate | 1e-05 |" in text and "empty text 2" in text and "numpy 2.0" in text
    for heading in ("Results", "Where it breaks", "Calibration", "Data", "Training", "Limits"):
        assert f"\n## {heading}\n" in text
    # 20 of the texts are long, and wrong wherever gold is good.
    assert "No slice is clearly worse" in text or "length: 201-400 words" in text


def test_names_from_outside_stay_words(tmp_path):
    card = Card(f"sent{NASTY}", "1", "label", ("bad", f"good {NASTY}"), ("accuracy",))
    options = {"model": f"/models/{NASTY}", "note": NASTY, "test": ["films=x"]}
    text = (write_card(make(tmp_path / "run", options, sources={"train": NASTY}, card=card)) or tmp_path).read_text()
    assert ModelCard(text).data.eval_results
    body = text.split("---\n", 2)[2]
    live = re.sub(r"\\.", "", body)
    assert "alert(2)" in live and "<" not in live and "](" not in live and "**z" not in live
    assert "\n# no heading" not in body and body.count("\n## ") == 6
    rows = [line for line in body.splitlines() if line.startswith("| train")]
    assert len(rows) == 1 and len(re.findall(r"(?<!\\)\|", rows[0])) == 6


def test_a_local_model_and_local_data_are_not_named_to_the_hub(tmp_path):
    folder = make(tmp_path / "run", {"model": "/models/tiny", "test": ["films=films.csv"]})
    data = ModelCard.load(write_card(folder)).data
    assert data.base_model is None and data.datasets is None


def test_a_set_that_was_fitted_on_is_called_so(tmp_path):
    folder = make(tmp_path / "run", {"test": ["films=x"]})
    scores = read_json(folder / "scores" / "films.json")
    write_json(folder / "scores" / "films.json", scores | {"fitted_on_this": ["weights"]})
    text = (write_card(folder) or folder).read_text()
    assert "films (not held out)" in text and "**films is no held-out test: weights saw these texts.**" in text


def test_a_run_without_a_model_or_without_scores_has_no_card(run, tmp_path):
    assert write_card(run / "baselines" / "majority") is None
    write_json(tmp_path / "card.json", CARD.to_json())
    (tmp_path / "model").mkdir()
    assert write_card(tmp_path) is None and not (tmp_path / "README.md").exists()


WORDS = st.text(max_size=30)
SCALARS = WORDS | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
NODES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(SCALARS | st.dictionaries(WORDS, inner, min_size=1), min_size=1)
        | st.dictionaries(WORDS, inner, min_size=1)
    ),
    max_leaves=8,
)


def shown(value):
    if isinstance(value, dict):
        return {visible(key): shown(found) for key, found in value.items()}
    if isinstance(value, list):
        return [shown(found) for found in value]
    return visible(value) if isinstance(value, str) else value


@given(st.dictionaries(WORDS, NODES, min_size=1))
def test_what_is_dumped_is_what_yaml_reads(value):
    assert yaml.safe_load(dump(value)) == shown(value)


@given(st.text(alphabet=st.sampled_from("ab *_`[]()<>|~#-+=1.!&\\$:/\n"), max_size=20))
def test_escaped_text_is_one_line_without_live_signs(text):
    line = escaped(text)
    assert "\n" not in line
    live = re.sub(r"\\.", "", line)
    assert not set(live) & set("`*_[]<>|~&$")
    assert not re.match(r"(#+|[-+]|\d+[.)])( |$)|=+$|-+$", line)
