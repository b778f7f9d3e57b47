"""The report as Markdown and as JSON: the numbers of the page, nothing of the texts where they are left out."""

import json
import re

import pytest

from heldout.eval.report import FORMATS, build_as


@pytest.fixture(scope="module")
def forms(run_folder):
    return {form: build_as(form, [run_folder], replicates=200) for form in FORMATS}


def test_json_holds_the_page_and_the_scores(forms, read):
    page = json.loads(forms["json"])
    assert [tab["id"] for tab in page["tabs"]][:2] == ["overview", "slices"]
    assert page["scores"]["tiny-bert"]["imdb"]["metrics"] == read.main.scores["imdb"]["metrics"]
    assert "<svg" not in forms["json"] and "<mark" not in forms["json"]
    (overview,) = page["tabs"][0]["sections"][0]["pieces"]
    assert overview["kind"] == "Overview" and overview["groups"][0]["sentences"][0].startswith("tiny-bert answers ")


def test_markdown_has_the_verdict_and_every_table_of_the_page(forms):
    said = forms["md"]
    right = re.search(r"tiny-bert answers (\d+) of 200 imdb texts right", forms["html"]).group()
    assert said.startswith("## tiny-bert on imdb and yelp\n") and f"- {right}" in said
    tables = re.findall(r"^\| :--", said, re.MULTILINE)
    assert len(tables) > 10 and said.count("<details>") == said.count("</details>") > 3
    assert "| imdb | 200 |" in said and "negation: in scope" in said
    for block in said.split("\n\n"):
        rows = [line for line in block.split("\n") if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1
    assert "alert(1)" not in said


@pytest.mark.parametrize("form", FORMATS)
def test_no_text_leaves_every_text_out_of_every_form(run_folder, form):
    """No run of three words of a text stands in the file."""
    made = build_as(form, [run_folder], text=False, replicates=50)
    path = run_folder / "gold" / "imdb.jsonl"
    texts = [json.loads(line)["text"]["text"] for line in path.read_text().splitlines()]
    words = [" ".join(text.split()[:3]) for text in texts]
    assert len(words) == 200 and not [three for three in words if three in made]
    if form != "md":
        assert "imdb/0" in made
        assert any(three in build_as(form, [run_folder], replicates=50) for three in words)
