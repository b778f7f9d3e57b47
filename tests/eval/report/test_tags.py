"""A report of tagged sentences: nothing of it takes an entity for a sentence."""

import json
from pathlib import Path

from heldout.bio import strict
from heldout.eval.report import build
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json, write_lines

LABELS = ("O", "B-person", "B-place")
CARD = Card("names", "1", "tags", LABELS, ("entity_f1", "ece"), ("entity_type", "sentence_case"))


def run(folder: Path, sets: dict[str, int]) -> Path:
    """Sentences of one entity, most of which the system does not find: fewer entities found than sentences."""
    write_json(folder / "card.json", CARD.to_json())
    write_json(folder / "options.json", {"task": "ner", "test": [f"{name}=x" for name in sets if name != "dev"]})
    for name, n in sets.items():
        gold, said = [], []
        for i in range(n):
            tags = ["O", "B-person" if i % 2 else "B-place"]
            answer = tags if i % 4 == 0 else ["O", "B-place" if i % 4 == 1 else "O"]
            # Once the scores say more than the answer.
            scores = [[0.9 if label == tag else 0.05 for label in LABELS] for tag in (tags if i == 3 else answer)]
            gold.append(Example(f"{name}{i}", {"words": ["Hi", "Ada"]}, tags))
            found = [{"start": a, "end": b, "type": kind, "p": 0.9} for a, b, kind in strict(answer)]
            said.append(Prediction(gold[-1].id, answer, scores, found))
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (prediction.to_json() for prediction in said))
    return folder


def test_a_run_of_tags_has_a_report_whose_counts_are_of_entities_where_it_says_answers(tmp_path: Path) -> None:
    page = build([run(tmp_path / "run", {"dev": 40, "posts": 40, "papers": 60})], replicates=50)
    assert "entity type: person" in page
    # 40 sentences, in 20 of which an entity is found, right in 10.
    assert "20 entities" in page


def test_scores_of_tags_with_another_decoding_beside_them_are_not_made_anew_by_a_report(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", {"dev": 40, "posts": 40})
    build([folder], replicates=50)
    path = folder / "scores" / "posts.json"
    assert list(json.loads(path.read_text())["variants"]) == ["temperature", "argmax", "viterbi"]
    before = path.stat().st_mtime_ns
    build([folder], replicates=50)
    assert path.stat().st_mtime_ns == before
