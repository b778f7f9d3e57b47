import json
import subprocess
import sys

from heldout.cli import main


def write(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("review,stars\na bright film,pos\na dull film,neg\n")
    return str(path)


def test_data_check_prints_a_table(tmp_path, capsys):
    assert main(["data", "check", write(tmp_path), "--column", "label=stars"]) == 0
    shown = capsys.readouterr().out
    assert "negative 1, positive 1" in shown


def test_data_check_prints_json(tmp_path, capsys):
    assert main(["data", "check", write(tmp_path), "--column", "label=stars", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sources"]["reviews"]["n"] == 2


def test_a_bad_source_is_one_line_on_stderr_and_status_2(tmp_path, capsys):
    assert main(["data", "check", write(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("heldout: ")
    assert err.count("\n") == 1
    assert "reviews.csv: no column for label" in err


def test_data_check_needs_sources_and_a_known_action(capsys):
    assert main(["data", "check"]) == 2
    assert main(["data", "chekc", "a.csv"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_data_check_imports_no_torch(tmp_path):
    code = f"""
import sys
from heldout.cli import main
assert main(["data", "check", {write(tmp_path)!r}, "--column", "label=stars"]) == 0
assert not {{"torch", "transformers", "sklearn", "accelerate"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
