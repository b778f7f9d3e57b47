"""The wheel as a stranger installs it: one name in site-packages, and scoring without torch."""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def tracked():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The wheel, unpacked by pip into an environment that has numpy and jinja2 and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    # A copy of what is tracked: setuptools would take stale files out of a build/ folder in the checkout.
    source = folder / "source"
    for name in tracked():
        if not (ROOT / name).is_symlink():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder), str(source)], check=True, capture_output=True)
    venv.create(folder / "venv", with_pip=False)
    wheels = [str(path) for path in folder.glob("heldout-*.whl")]
    assert len(wheels) == 1
    python = folder / "venv" / "bin" / "python"
    into = ["--python", str(python), "install", "--no-deps"]
    subprocess.run([*pip, *into, *wheels, "numpy", "jinja2", "markupsafe"], check=True, capture_output=True)
    return folder / "venv"


def test_site_packages_gains_one_name(site):
    packages = next(site.glob("lib/python*/site-packages"))
    record = next(packages.glob("heldout-*.dist-info/RECORD")).read_text()
    names = {line.split("/")[0].split(",")[0] for line in record.splitlines()}
    assert {name for name in names if not name.startswith(("heldout-", "..", "__pycache__"))} == {"heldout"}
    rooms = ("heldout/", "tasks/", "eval/", "scripts/")
    wanted = [name for name in tracked() if name.startswith(rooms) and not (ROOT / name).is_symlink()]
    installed = [name if name.startswith("heldout/") else f"heldout/{name}" for name in wanted]
    assert len(installed) > 80
    assert [name for name in installed if f"{name}," not in record] == []


def test_hand_written_files_are_scored_without_torch(site, tmp_path):
    card = {"name": "mine", "kind": "label", "labels": ["negative", "positive"], "metrics": ["accuracy", "nll"]}
    (tmp_path / "card.json").write_text(json.dumps(card))
    golds = [("a", "positive"), ("b", "negative"), ("c", "negative")]
    gold = [{"id": i, "text": {"text": f"text {i}"}, "gold": g} for i, g in golds]
    predictions = [{"id": i, "answer": "negative", "scores": [0.75, 0.25]} for i in "abc"]
    for name, rows in (("gold", gold), ("predictions", predictions)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["score", "--card", "card.json", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl", "--json"]
    done = subprocess.run([site / "bin" / "heldout", *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["metrics"]
    assert metrics["accuracy"]["value"] == pytest.approx(2 / 3)
    assert metrics["nll"]["value"] == pytest.approx(0.6539, abs=1e-4)
    missing = subprocess.run([site / "bin" / "python", "-c", "import torch"], capture_output=True)
    assert missing.returncode == 1
