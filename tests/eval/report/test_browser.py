"""The page in Chromium: silent, offline, readable in both schemes and on a phone, its filters worked by keyboard."""

import struct
import zlib

import pytest

from heldout.eval.report import build

pytestmark = pytest.mark.browser


def rows_of(png: bytes) -> set[bytes]:
    """The distinct scanlines of a PNG, still filtered: a blank picture has one or two."""
    width, _, _, colour = struct.unpack(">IIBB", png[16:26])
    at, data = 8, b""
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    raw, line = zlib.decompress(data), width * {2: 3, 6: 4}[colour] + 1
    return {raw[k : k + line] for k in range(0, len(raw), line)}


def visible_mistakes(page):
    return page.locator(".mistake:visible")


def test_nothing_is_said_on_the_console_and_nothing_asked_of_the_network(open_page, html_file):
    opened = open_page()
    for link in opened.page.locator("nav a").all():
        link.click()
    opened.page.locator("summary:visible").first.click()
    assert opened.said == []
    assert opened.asked == [html_file.as_uri()]


def test_the_policy_stops_what_is_not_ours(open_page):
    """The check itself would see a violation: a style attribute set by markup is refused and said so."""
    opened = open_page()
    opened.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color:red\">x</p><img src=x>')")
    opened.page.wait_for_timeout(100)
    assert any("Content Security Policy" in line for line in opened.said)


def test_a_review_that_holds_a_script_is_shown_and_not_run(open_page):
    opened = open_page()
    nasty = opened.page.locator(".mistake .text", has_text="alert(1)")
    assert nasty.count() >= 2
    assert nasty.first.text_content().startswith(
        "</script><!-- <script>alert(1)</script> \"quoted\" 'single' & <b>bold</b>"
    )
    assert opened.page.locator("script").count() == 1 and opened.said == []


def test_the_overview_is_one_screen_of_verdict_and_table(open_page):
    page = open_page(height=800).page
    assert page.locator("#overview .summary tbody tr").count() == 3
    # The names of the sets are short: what they leave is for the systems.
    assert page.locator("#overview .summary tbody th").first.bounding_box()["width"] < 150
    for selector in ("h1", ".lead", ".overview", ".summary", ".mark.model", ".words li >> nth=-1"):
        box = page.locator(selector).first.bounding_box()
        assert box["y"] + box["height"] < 800 and box["height"] > 5, selector


@pytest.mark.parametrize("width", [390, 1280])
def test_each_row_of_a_forest_has_its_own_name_value_and_drawing(open_page, width):
    """Names once slid a row up while values stayed: a grid that packs densely fills the empty corner of its head."""
    page = open_page(width=width, tab="slices").page
    rows = page.locator("#slices .whiskers .row:has(.name)")
    assert rows.count() > 10
    for row in rows.all():
        name = row.locator(".name").evaluate("(node) => node.firstChild.data.trim()")
        parts = row.locator(".name, .value, .track-cell").all()
        assert len(parts) == 5
        boxes = [part.bounding_box() for part in parts]
        middles = [box["y"] + box["height"] / 2 for box in boxes]
        assert abs(middles[0] - middles[1]) < 4 and (width < 500 or max(middles) - min(middles) < 4)
        label = row.locator(".track").first.get_attribute("aria-label")
        assert (
            label.startswith(f"{name} on ")
            and row.locator(".value").first.evaluate("(n) => n.firstChild.data.trim()") in label
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_screenshot_is_no_blank_page(open_page, scheme):
    picture = open_page(scheme=scheme).page.screenshot()
    assert len(rows_of(picture)) > 100


def test_the_dark_scheme_is_dark(open_page):
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page(scheme=scheme).page.evaluate(ground) for scheme in ("light", "dark"))
    assert light == "rgb(253, 253, 252)" and dark == "rgb(21, 23, 26)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_the_contrast_of_wcag_aa(open_page, scheme):
    found = open_page(scheme=scheme).contrasts()
    assert len(found) > 300
    assert [(round(ratio, 2), where) for ratio, where in found if ratio < 4.5] == []


def test_one_tab_is_shown_at_a_time_and_the_navigation_says_which(open_page):
    page = open_page().page
    assert shown_tabs(page) == ["overview"]
    assert page.locator("nav a[aria-current=page]").all_inner_texts() == ["Overview"]
    page.click("nav a[href='#data']")
    page.wait_for_function("!document.querySelector('#data').hidden")
    assert shown_tabs(page) == ["data"]
    assert page.locator("nav a[aria-current=page]").all_inner_texts() == ["Data"]
    page.go_back()
    page.wait_for_function("!document.querySelector('#overview').hidden")
    assert shown_tabs(page) == ["overview"]


def test_an_address_opens_its_tab_and_an_unknown_one_the_first(open_page):
    assert shown_tabs(open_page(tab="calibration").page) == ["calibration"]
    assert shown_tabs(open_page(tab="nothing-of-ours").page) == ["overview"]


def test_the_tabs_are_worked_by_keyboard_alone(open_page):
    page = open_page().page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("!document.querySelector('#slices').hidden")
    assert shown_tabs(page) == ["slices"] and page.evaluate("document.activeElement.id") == "slices"
    # On into the panel: what is hidden in other tabs takes no focus.
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.panel').id") == "slices"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def shown_tabs(page):
    return page.eval_on_selector_all(".panel", "(all) => all.filter((p) => !p.hidden).map((p) => p.id)")


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_tab_scrolls_sideways(open_page, width):
    page = open_page(width=width, height=844).page
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    wide, tabs = 0, [link.get_attribute("href") for link in page.locator("nav a").all()]
    assert len(tabs) >= 7
    for tab in tabs:
        page.evaluate("(tab) => { location.hash = tab; }", tab)
        page.wait_for_function("(tab) => !document.querySelector(tab).hidden", arg=tab)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
        wide += page.locator(f"{tab} .scroll").evaluate_all(
            "(all) => all.filter((b) => b.scrollWidth > b.clientWidth).length"
        )
    assert wide > 0 or width >= 768


def test_the_filters_narrow_the_mistakes(open_page):
    page = open_page(tab="mistakes").page
    every = page.locator(".mistake").count()
    of_main = visible_mistakes(page).count()
    assert 0 < of_main < every
    page.select_option("[name=data]", label="yelp")
    assert 0 < visible_mistakes(page).count() < of_main
    assert all("· yelp ·" in note for note in page.locator(".mistake:visible .note:first-of-type").all_inner_texts())
    page.select_option("[name=gold]", label="positive")
    heads = page.locator(".mistake:visible h3").all_inner_texts()
    assert heads and all(head.endswith("gold is positive") for head in heads)
    page.select_option("[name=slice]", label="negation: in scope")
    assert 0 < visible_mistakes(page).count() <= len(heads)
    page.click("#filters button")
    assert visible_mistakes(page).count() == every
    page.fill("[name=text]", "ALERT(1)")
    assert 0 < visible_mistakes(page).count() < 10
    assert page.inner_text("#found") == f"{visible_mistakes(page).count()} of {every} shown here"


def test_the_filters_are_worked_by_keyboard_alone(open_page):
    page = open_page(tab="mistakes").page
    before = visible_mistakes(page).count()
    page.locator("[name=system]").focus()
    page.keyboard.press("ArrowDown")
    assert page.eval_on_selector("[name=system]", "(field) => field.selectedOptions[0].label") == "majority"
    assert visible_mistakes(page).count() != before
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.type("no such words anywhere")
    assert visible_mistakes(page).count() == 0
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert visible_mistakes(page).count() == page.locator(".mistake").count()


def test_every_tab_is_reached_from_the_navigation(open_page):
    page = open_page().page
    links = page.locator("nav a")
    assert links.count() >= 7
    for k in range(links.count()):
        links.nth(k).click()
        panel = page.locator(links.nth(k).get_attribute("href"))
        assert panel.locator("h2").first.is_visible()
        assert -5 < panel.bounding_box()["y"] < 900


def test_all_tabs_are_printed_without_the_controls(open_page):
    page = open_page().page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("nav").is_visible() and not page.locator("#filters").is_visible()
    assert len(shown_tabs(page)) == page.locator(".panel").count() >= 7
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert shown_tabs(page) == ["overview"]


def test_without_scripts_everything_is_shown(browser, html_file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(html_file.as_uri())
    assert len(shown_tabs(page)) == page.locator(".panel").count() >= 7
    assert visible_mistakes(page).count() == page.locator(".mistake").count() > 0
    assert not page.locator("#filters").is_visible()
    context.close()


def test_a_page_as_large_as_they_get_opens_in_two_seconds(open_page, make_one, tmp_path):
    """25,000 predictions, of which 10,000 are wrong: the list is bounded, the other tabs are not laid out."""
    path = tmp_path / "large.html"
    path.write_text(build([make_one(tmp_path / "run", 25_000, right=0.6)], replicates=20), encoding="utf-8")
    assert 100_000 < path.stat().st_size < 5_000_000
    page = open_page(path).page
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0 < timing < 2000
    assert page.locator(".mistake").count() == 400
