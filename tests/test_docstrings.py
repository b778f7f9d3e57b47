"""The examples in docstrings say what the code does."""

import doctest
import importlib
import pkgutil

import heldout


def test_every_example_in_a_docstring_holds():
    names = [module.name for module in pkgutil.walk_packages(heldout.__path__, "heldout.")]
    results = {name: doctest.testmod(importlib.import_module(name)) for name in names if not name.endswith("__main__")}
    assert {name: result.failed for name, result in results.items() if result.failed} == {}
    assert sum(result.attempted for result in results.values()) >= 10
