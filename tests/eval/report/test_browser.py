"""The page in Chromium: silent, offline, readable in both schemes and on a phone, its filters worked by keyboard."""

import struct
import zlib

import pytest

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
    opened.page.locator("summary").first.click()
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


def test_the_first_screen_has_title_verdict_and_picture(open_page):
    opened = open_page()
    for selector in ("h1", ".lead", ".overview .whiskers", ".mark.model"):
        box = opened.page.locator(selector).first.bounding_box()
        assert box["y"] + box["height"] < 900 and box["height"] > 5


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


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_page_does_not_scroll_sideways(open_page, width):
    page = open_page(width=width, height=844).page
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((b) => b.scrollWidth > b.clientWidth).length"
    )
    assert wide > 0 or width == 768


def test_the_filters_narrow_the_mistakes(open_page):
    page = open_page().page
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
    page = open_page().page
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


def test_every_section_is_reached_from_the_navigation(open_page):
    page = open_page().page
    links = page.locator("nav a")
    assert links.count() == 6
    for k in range(6):
        links.nth(k).click()
        top = page.locator(links.nth(k).get_attribute("href")).bounding_box()["y"]
        assert -5 < top < 900


def test_print_leaves_the_controls_out(open_page):
    page = open_page().page
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible() and not page.locator("#filters").is_visible()
    assert page.locator("h1").is_visible()


def test_without_scripts_everything_is_shown(browser, html_file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(html_file.as_uri())
    assert visible_mistakes(page).count() == page.locator(".mistake").count() > 0
    assert not page.locator("#filters").is_visible()
    context.close()
