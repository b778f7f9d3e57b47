"""What may import what is held by import-linter (pyproject.toml); that its contract for eval is not empty, by this."""

import subprocess
import sys
import tomllib
from pathlib import Path

from heldout.cli import commands

LOADS_MODELS = {"torch", "transformers", "accelerate", "datasets", "tokenizers", "evaluate", "sklearn", "scipy"}
ABOVE = {"heldout.data", "heldout.train", "heldout.tasks", "heldout.baselines"}


def test_the_contract_for_eval_forbids_whatever_could_load_a_model():
    pyproject = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    (contract,) = (
        c for c in pyproject["tool"]["importlinter"]["contracts"] if c.get("source_modules") == ["heldout.eval"]
    )
    assert set(contract["forbidden_modules"]) == LOADS_MODELS | ABOVE


def test_every_command_says_its_help_without_torch():
    # Importing torch and what is built on it takes 5 seconds.
    code = """
import sys
from heldout.cli import commands, main
for name in commands():
    try:
        main([name, "--help"])
    except SystemExit:
        pass
print("loaded:", *[name for name in ("torch", "transformers", "accelerate", "datasets") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("usage: heldout ") == len(commands()) > 15
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_every_module_of_eval_imports_without_them():
    code = f"""
import importlib, pkgutil, sys
import heldout.eval
found = [module.name for module in pkgutil.walk_packages(heldout.eval.__path__, "heldout.eval.")]
for name in found:
    importlib.import_module(name)
assert len(found) > 20, found
loaded = {sorted(LOADS_MODELS | ABOVE)!r}
print(*[name for name in loaded if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
