"""``heldout lesson``: the list, a page, JSON, pictures; and the page in docs/."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heldout.cli import main
from heldout.lessons import ORDER, draw, every, find
from heldout.lessons._contract import plain

ROOT = Path(__file__).parent.parent.parent


def test_the_order_names_every_file_of_the_folder_once():
    files = {path.stem for path in (ROOT / "heldout" / "lessons").glob("[a-z]*.py")}
    assert {name.replace("-", "_") for name in ORDER} == files
    assert len(ORDER) == len(files) == 37


def test_the_list_has_every_lesson_with_its_line(capsys):
    assert main(["lesson"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert tuple(listed) == ORDER
    for lesson in every():
        assert f"{lesson.title}" in "\n".join(lines)
    assert max(map(len, lines)) <= 140


@pytest.mark.parametrize("name", ORDER)
def test_a_lesson_prints_its_page_within_twenty_seconds(name, capsys):
    begun = time.process_time()
    assert main(["lesson", name]) == 0
    assert time.process_time() - begun < 20
    page = capsys.readouterr().out
    lesson = find(name)
    assert lesson.name == name and page.startswith(lesson.title)
    assert lesson.where in page and len(lesson.answers) > 100 and page.endswith(f"Questions\n{lesson.answers}\n")
    assert max(map(len, page.splitlines())) <= 140
    tables = page.removeprefix(lesson.title).split("Questions\n")[0]
    assert len(re.findall(r"\d", tables)) > 10
    assert not re.search(r"np\.float64|(?<!not )\bnan\b|array\(", tables)


def test_a_lessons_file_can_be_read_at_one_sitting():
    lengths = {name: len((ROOT / "heldout" / "lessons" / find(name).file).read_text().splitlines()) for name in ORDER}
    assert {name: n for name, n in lengths.items() if not 30 <= n <= 250} == {}


def test_json_holds_the_values_by_the_seeds_ids(capsys):
    assert main(["lesson", "glove", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == plain(find("glove").values())
    assert printed["ex23.8a"]["ratio_solid"] == 9


def test_an_unknown_lesson_names_the_nearest_one(capsys):
    assert main(["lesson", "skipgram"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'skipgram'" in line and "did you mean skip-gram?" in line


@pytest.mark.parametrize("flags", [["--json"], ["--picture", "x.svg"]])
def test_a_flag_without_a_lesson_is_refused(flags, capsys):
    assert main(["lesson", *flags]) == 2
    assert "name it" in capsys.readouterr().err


@pytest.mark.parametrize("name", ORDER)
def test_every_picture_can_be_drawn(name, tmp_path):
    draw(find(name), tmp_path / "one.svg")
    drawn = (tmp_path / "one.svg").read_bytes()
    assert drawn.startswith(b"<?xml") and 3_000 < len(drawn) < 120_000


def test_a_picture_has_the_same_bytes_twice(tmp_path):
    for name in ("one-hot", "cost"):
        for path in (tmp_path / "one.svg", tmp_path / "two.svg"):
            draw(find(name), path)
        assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_picture_may_be_png_and_nothing_that_is_no_picture(tmp_path, capsys):
    assert main(["lesson", "cost", "--picture", str(tmp_path / "new" / "cost.png")]) == 0
    assert (tmp_path / "new" / "cost.png").read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    assert main(["lesson", "cost", "--picture", str(tmp_path / "cost.txt")]) == 2
    assert ".svg" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_without_matplotlib_a_picture_is_refused_with_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["lesson", "cost", "--picture", str(tmp_path / "cost.svg")]) == 2
    assert "pip install 'heldout[pictures]'" in capsys.readouterr().err


def test_the_list_needs_neither_torch_nor_matplotlib():
    code = "import sys, heldout.cli\nheldout.cli.main(['lesson'])\n"
    code += "print([m for m in ('torch', 'transformers', 'matplotlib', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_page_in_docs_has_every_lesson_with_its_line_and_picture():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from make_lessons import page
    finally:
        sys.path.pop(0)
    text = (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8")
    assert text == page()
    pictures = re.findall(r"\]\((lessons/[a-z-]+\.svg)\)", text)
    assert pictures == [f"lessons/{name}.svg" for name in ORDER]
    for picture in pictures:
        assert (ROOT / "docs" / picture).read_text(encoding="utf-8").startswith("<?xml")
