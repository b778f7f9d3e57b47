"""The sections that follow from confidence: their sentences, the bands of a reliability diagram, their tables."""

import numpy as np
import pytest

from heldout.eval.labels import LabelTable
from heldout.eval.report.calibration import consistency_bands, reliability_bins
from heldout.eval.report.confidence import covered, helped, sections
from heldout.eval.report.inputs import read_inputs
from heldout.eval.report.pieces import Prose
from heldout.eval.run_scores import score_run


def test_a_fit_that_helps_in_the_domain_and_hurts_out_of_it_is_said_to() -> None:
    changes = {
        "imdb": (-0.007, -0.009, -0.005),
        "books": (0.012, 0.004, 0.02),
        "dvd": (0.001, -0.004, 0.006),
        "dev": (-0.01, -0.02, -0.005),
    }
    assert helped("temperature", "imdb", changes) == (
        "Temperature of dev lowers the ECE on imdb (−0.007, −0.009 to −0.005) and raises it on books (+0.012, "
        "0.004 to 0.020); on dvd the change is no more than chance could give. It helps in the domain, imdb, and hurts "
        "out of it."
    )


def test_a_fit_that_changes_nothing_surely_is_no_help_and_too_few_texts_tell_nothing() -> None:
    changes = {"imdb": (-0.01, -0.03, 0.01), "yelp": (0.2, None, None)}
    said = helped("isotonic", "imdb", changes)
    assert said == "Isotonic of dev: on no set is the change of the ECE more than chance could give."


def test_a_fit_that_only_hurts_is_not_said_to_help() -> None:
    said = helped("temperature", "imdb", {"imdb": (0.02, 0.01, 0.03)})
    assert said == "Temperature of dev raises the ECE on imdb (+0.020, 0.010 to 0.030)."


def test_coverage_is_called_less_than_asked_only_where_its_interval_lies_below() -> None:
    said = covered(0.9, {"imdb": (0.91, 0.89, 0.93), "books": (0.83, 0.81, 0.85), "yelp": (0.89, 0.87, 0.91)})
    assert said == (
        "Asked for 90%, the sets hold gold 91.0% on imdb (interval 89.0–93.0), 83.0% on books (interval 81.0–85.0, "
        "less than asked) and 89.0% on yelp (interval 87.0–91.0)."
    )


def test_nineteen_of_twenty_points_of_a_calibrated_system_lie_in_their_band() -> None:
    """Over all bins of 40 systems with 800 answers each."""
    rng, inside, looked_at = np.random.default_rng(0), 0, 0
    for _ in range(40):
        p = rng.uniform(0.5, 1, 800)
        table = LabelTable(("no", "yes"), (rng.random(800) < p).astype(int), np.ones(800, int), np.stack([1 - p, p], 1))
        for b in (b for b in reliability_bins(table) if b.n):
            assert b.band is not None
            inside += b.band[0] - 1e-9 <= b.right / b.n <= b.band[1] + 1e-9
            looked_at += 1
    assert looked_at > 300
    assert 0.93 < inside / looked_at < 0.99


def test_a_bin_of_one_answer_has_the_band_of_all_there_is() -> None:
    p = np.array([0.7])
    table = LabelTable(("no", "yes"), np.array([1]), np.array([1]), np.stack([1 - p, p], 1))
    assert [b.band for b in reliability_bins(table) if b.n] == [(0.0, 1.0)]


def test_a_system_that_finds_nothing_has_no_bands() -> None:
    from heldout.eval.metrics.ece import Binned

    none = np.zeros(0)
    assert consistency_bands(Binned(none, none, none.astype(int), none.astype(int), np.array([0.0, 1.0]))) == {}


@pytest.fixture(scope="module")
def with_costs(make, tmp_path_factory):  # type: ignore[no-untyped-def]
    folder = make(tmp_path_factory.mktemp("costs") / "run", n=60)
    score_run(folder, replicates=50, costs=["positive>negative=5"], alpha=0.2)
    return read_inputs([folder], 50)


def test_every_section_names_every_test_set(with_costs) -> None:  # type: ignore[no-untyped-def]
    found = {section.title: section for section in sections(with_costs)}
    assert list(found) == [
        "What is fitted on dev, elsewhere",
        "Answering only the surest",
        "What the Brier score is made of",
        "What errors cost",
        "Conformal sets",
    ]
    for section in found.values():
        tables = [piece.table for piece in section.pieces if hasattr(piece, "table")]
        names = " ".join(row.name for table in tables for row in table.rows)
        assert "imdb" in names and "yelp" in names, section.title
        assert all(len(row.cells) == len(table.heads) - 1 for table in tables for row in table.rows)
    assert found["What errors cost"].note.startswith(
        "Negative called positive costs 1 and positive called negative costs 5."
    )
    prose = found["Conformal sets"].pieces[0]
    assert isinstance(prose, Prose) and prose.lines[0].startswith("Asked for 80%, the sets hold gold ")


def test_the_costs_of_a_run_are_those_of_its_scores(with_costs) -> None:  # type: ignore[no-untyped-def]
    section = next(section for section in sections(with_costs) if section.title == "What errors cost")
    rows = {row.name: row for row in section.pieces[0].table.rows}  # type: ignore[attr-defined]
    scores = with_costs.main.scores["imdb"]
    after = scores["variants"]["expected_cost"]["metrics"]["cost"]["value"]
    assert [cell.value for cell in rows["imdb"].cells[:2]] == [
        f"{scores['metrics']['cost']['value']:.3f}",
        f"{after:.3f}",
    ]
    assert rows["dev"].badges == ("fitted on",)
