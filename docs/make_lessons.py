"""Write docs/lessons.md and its pictures: python docs/make_lessons.py (a test compares the page with ``page()``)."""

from pathlib import Path

from heldout.lessons import draw, every

HERE = Path(__file__).parent
HEAD = """\
# Lessons

The two texts in the seeds, an idea at a time, in their order. Each is a small file to read beside the text and a page
that runs: `heldout lesson NAME` prints its tables and answers the text's questions, `--picture FILE` draws it,
`--json` gives the values. Every number is computed when you ask for it and tested against the seeds' own: 87 entries,
and 332 plausible mistakes, each of which a test tells from the right way. `heldout lesson` lists them.

This page and its pictures are made by `python docs/make_lessons.py`.
"""


def page() -> str:
    """The page's text."""
    parts = [
        f"## {lesson.name}\n\n{lesson.title[0].upper()}{lesson.title[1:]}. In the seeds: {lesson.where}."
        f" [Code](../heldout/lessons/{lesson.file})\n\n![{lesson.title}](lessons/{lesson.name}.svg)\n"
        for lesson in every()
    ]
    return "\n".join([HEAD, *parts])


if __name__ == "__main__":
    (HERE / "lessons.md").write_text(page(), encoding="utf-8")
    for lesson in every():
        draw(lesson, HERE / "lessons" / f"{lesson.name}.svg")
        print(lesson.name)
