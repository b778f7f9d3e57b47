"""The marks and tables of every kind in Chromium: silent, told apart without colour, readable, filtered."""

import pytest

pytestmark = pytest.mark.browser
KINDS = ("tags", "span", "pairs")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_is_silent_and_all_its_text_can_be_read(open_page, files, kind, scheme):
    opened = open_page(files[kind], scheme=scheme)
    found = opened.contrasts()
    assert len(found) > 300
    assert [(round(ratio, 2), where) for ratio, where in found if ratio < 4.5] == []
    assert opened.said == [] and opened.asked == [files[kind].as_uri()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_does_not_scroll_sideways(open_page, files, kind, width):
    page = open_page(files[kind], width=width, height=844).page
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    tabs = [link.get_attribute("href") for link in page.locator("nav a").all()]
    assert len(tabs) >= 6
    for tab in tabs:
        page.evaluate("(tab) => { location.hash = tab; }", tab)
        page.wait_for_function("(tab) => !document.querySelector(tab).hidden", arg=tab)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab


def test_gold_and_answer_are_told_apart_by_place_and_kind_of_line(open_page, files):
    page = open_page(files["tags"]).page
    style = """(mark) => {
      const { borderTopStyle, borderTopWidth, borderBottomStyle, borderBottomWidth } = getComputedStyle(mark);
      return [borderTopStyle, parseFloat(borderTopWidth), borderBottomStyle, parseFloat(borderBottomWidth)];
    }"""
    gold, found, both, agreed = (
        page.eval_on_selector(f".mistake mark{selector}", style)
        for selector in (".gold:not(.found)", ".found:not(.gold)", ".found.gold", ".both")
    )
    assert gold[0] == "none" and gold[2:] == ["solid", 3]
    assert found[:2] == ["dashed", 3] and found[2] == "none"
    assert both == ["dashed", 3, "solid", 3]
    assert agreed == ["dashed", 2, "solid", 2]
    assert page.locator(".legend mark").count() == 3


def test_nothing_of_a_text_runs(open_page, files):
    for kind in ("tags", "span"):
        opened = open_page(files[kind])
        assert opened.page.locator(".mistake", has_text="alert(1)").count() > 1
        assert opened.page.locator("script").count() == 1 and opened.said == []


def test_a_confusion_is_shaded_in_steps(open_page, files):
    page = open_page(files["tags"]).page
    grounds = page.eval_on_selector_all(
        "#entities td[class*='-']", "(cells) => cells.map((c) => [c.className, getComputedStyle(c).backgroundColor])"
    )
    shades = dict(grounds)
    assert len(shades) >= 3 and len(set(shades.values())) == len(shades)


def test_filters_of_several_values_find_each_of_them(open_page, files):
    page = open_page(files["tags"], tab="mistakes").page
    page.click("#filters button")
    shown = page.locator(".mistake:visible")
    every = shown.count()
    page.select_option("[name=fate]", label="missed")
    heads = page.locator(".mistake:visible h3").all_inner_texts()
    assert 0 < len(heads) < every and all("missed" in head for head in heads)
    page.select_option("[name=type]", label="place")
    assert shown.count() < len(heads)
    page.select_option("[name=fate]", label="wrong type")
    assert shown.count() > 0 and page.inner_text("#found") == f"{shown.count()} of {every} shown here"
    page.select_option("[name=data]", label="papers")
    page.fill("[name=text]", "found person")
    assert 0 < shown.count() < every


def test_the_members_of_a_pair_stand_side_by_side_and_on_a_phone_below_each_other(open_page, files):
    for width, beside in ((1280, True), (390, False)):
        page = open_page(files["pairs"], width=width, tab="mistakes").page
        first, second = page.locator(".members").first.locator("> div").all()
        a, b = first.bounding_box(), second.bounding_box()
        assert (abs(a["y"] - b["y"]) < 5) == beside and (b["x"] > a["x"] + a["width"]) == beside


@pytest.mark.parametrize(("kind", "section"), [("tags", "entities"), ("span", "answers")])
def test_the_tab_of_a_kind_is_reached_from_the_navigation(open_page, files, kind, section):
    page = open_page(files[kind]).page
    assert not page.locator(f"#{section} table").first.is_visible()
    page.locator(f"nav a[href='#{section}']").click()
    assert page.locator(f"#{section} table").first.is_visible()
    assert -5 < page.locator(f"#{section}").bounding_box()["y"] < 900


def test_without_scripts_everything_is_shown(browser, files):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files["span"].as_uri())
    assert page.locator(".mistake:visible").count() == page.locator(".mistake").count() > 50
    context.close()
