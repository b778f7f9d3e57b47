"""The intervals cover what they say they cover, by simulation (FAULTS E5: a standard error must be the estimate's)."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    """docs/coverage.py, which also makes the table of the docs."""
    spec = importlib.util.spec_from_file_location("coverage_table", Path(__file__).parents[2] / "docs" / "coverage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.TRUE = 1_000_000
    return module


@pytest.mark.parametrize("over", [0.0, 0.1])
def test_wilson_and_the_bootstrap_of_nll_and_brier_cover_95_percent_at_n_500(
    simulation: ModuleType, over: float
) -> None:
    held = simulation.coverage(500, over, 1500, 500, ("accuracy", "nll", "brier"))
    assert set(held) == {"accuracy", "nll", "brier"}
    # 1,500 test sets know a share of 95% to 0.6%.
    for name, share in held.items():
        assert 0.93 <= share <= 0.97, name


def test_intervals_a_fifth_too_narrow_would_be_found_out(simulation: ModuleType) -> None:
    """The check itself can fail."""
    rng, true = np.random.default_rng(0), 0.44 / 3  # E p (1 − p) with p uniform on [0.6, 1]
    tables = [simulation.drawn_table(rng, 500, 0.0) for _ in range(600)]
    bounds = simulation.intervals(tables, ("brier",), 500, 0)["brier"]
    narrow = [(low + 0.1 * (high - low), high - 0.1 * (high - low)) for low, high in bounds]
    assert len(bounds) == 600
    assert np.mean([low <= true <= high for low, high in narrow]) < 0.93 < np.mean([a <= true <= b for a, b in bounds])


def test_the_plain_bootstrap_of_an_ece_never_holds_the_0_of_a_calibrated_system(simulation: ModuleType) -> None:
    held = simulation.coverage(50, 0.0, 200, 200, ("ece",))
    assert held["ece"] < 0.05
    assert held["ece, less its bias"] > held["ece"]
