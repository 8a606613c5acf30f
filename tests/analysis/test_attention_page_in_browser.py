"""The page in a real browser: Chromium, driven by Playwright. `.ci/run` installs both."""

import importlib.util
import os
import shutil

import pytest

from kerazoo.analysis.attention_page import write_attention_page

pytestmark = pytest.mark.browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
if not os.environ.get("CHROMIUM"):  # who names it wants these tests to run
    if CHROMIUM is None:
        pytest.skip("Chromium is missing: apt-get install chromium", allow_module_level=True)
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("Playwright is missing: pip install playwright", allow_module_level=True)

TEXTS = ('The film </script><b>&" ends.', "电影很好😀。")
TOKENS = '[CLS] the film </script><b>&" ends . [SEP] 电 影 [UNK] 好 ðŁĺ Ģ 。 [SEP]'.split()
SEGMENTS = [0] * 7 + [1] * 8
OFFSETS = [
    *([-1, -1], [0, 3], [4, 8], [9, 23], [24, 28], [28, 29], [-1, -1]),
    *([0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [4, 5], [5, 6], [-1, -1]),
]
FILM, MOVIE = 2, 8


@pytest.fixture(scope="module")
def browser():
    """One Chromium for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def found(make_attention_map):
    return make_attention_map(TEXTS, TOKENS, SEGMENTS, OFFSETS)


@pytest.fixture(scope="module")
def file(found, patterns_of, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_attention_page(found, patterns_of(found), path, title="<i>tiny</i>")
    return path


@pytest.fixture
def opened(browser, file):
    """A function that opens the page; whatever it complains of or asks for fails the test."""
    troubles, requests = [], []

    def open_page(**options):
        page = browser.new_page(**options)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("#looks li")
        return page

    yield open_page
    for context in browser.contexts:
        context.close()
    assert troubles == []
    assert set(requests) <= {file.as_uri(), "data:,"}


def numbers(page):
    """The weight that the list shows for each token, in the order of the text."""
    rows = page.eval_on_selector_all(
        "#looks li", "rows => rows.map(row => [row.dataset.key, row.lastChild.textContent])"
    )
    return [number for _, number in sorted(rows, key=lambda row: int(row[0]))]


def expected(found, layer, head, token):
    return [f"{weight:.4f}" for weight in found.weights[layer, head, token]]


def test_the_texts_stand_there_as_they_are(opened, found):
    page = opened()
    assert page.title() == "Attention: <i>tiny</i>"
    assert page.text_content("h1") == "Attention of <i>tiny</i>"
    first, second = page.eval_on_selector_all("#tokens p", "nodes => nodes.map(n => n.textContent)")
    assert first == '[CLS]The film </script><b>&" ends.[SEP]'
    assert second.replace("\N{NO-BREAK SPACE}", " ") == "电影很好😀 1/2😀 2/2。[SEP]"
    assert page.locator("#tokens p").nth(1).get_attribute("lang") == "zh"
    assert "很 [UNK]" in page.eval_on_selector_all(
        ".label", "nodes => nodes.map(n => n.textContent)"
    )
    assert numbers(page) == expected(found, 0, 0, 1)  # the first word


def test_a_click_chooses_the_head(opened, found):
    page = opened()
    page.get_by_role("gridcell", name="Layer 2, head 4").click()
    assert page.text_content("#detail-title") == "Layer 2, head 4"
    assert numbers(page) == expected(found, 1, 3, 1)
    assert page.input_value("#layer") == "1" and page.input_value("#head") == "3"
    page.select_option("#head", label="5")
    assert numbers(page) == expected(found, 1, 4, 1)


def test_keys_choose_layer_and_head_and_token(opened, found):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "theme"
    page.focus("#grid [tabindex='0']")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    assert page.text_content("#detail-title") == "Layer 2, head 2"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Layer 2, head 2"
    page.keyboard.press("Tab")  # tokens are one stop
    page.keyboard.press("ArrowRight")
    assert numbers(page) == expected(found, 1, 1, FILM)
    assert page.text_content("#spoken").startswith("Layer 2, head 2: film looks at ")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"


def test_hovering_shows_the_weights_of_that_token(opened, found):
    page = opened()
    for token in (MOVIE, FILM):
        page.hover(f"#tokens [data-token='{token}']")
        assert numbers(page) == expected(found, 0, 0, token)
    page.hover("h1")
    assert numbers(page) == expected(found, 0, 0, 1)


def test_the_heat_map_tells_the_weight_of_a_cell(opened, found):
    page = opened()
    box = page.locator("#map-cells").bounding_box()
    cell = box["width"] / len(TOKENS)
    place = {"x": (MOVIE + 0.5) * cell, "y": (FILM + 0.5) * cell}
    page.hover("#map-cells", position=place)
    weight = found.weights[0, 0, FILM, MOVIE]
    assert page.text_content("#map-number") == f"film → 影: {weight:.4f}"
    assert numbers(page) == expected(found, 0, 0, FILM)
    shade = "({x, y}) => [...document.querySelector('#map-cells').getContext('2d')"
    shade += ".getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data].join()"
    token = "getComputedStyle(document.querySelector(`[data-token='8']`)).backgroundColor"
    red, green, blue, _ = page.evaluate(shade, place).split(",")
    assert page.evaluate(token) == f"rgb({red}, {green}, {blue})"


def test_lines(opened, found):
    page = opened()
    page.get_by_role("button", name="Lines").click()
    assert not page.is_visible("#map")
    page.hover(f"#lines .query[data-token='{MOVIE}']")
    shown = page.eval_on_selector_all("#lines .number", "nodes => nodes.map(n => n.textContent)")
    assert shown == expected(found, 0, 0, MOVIE)
    row = found.weights[0, 0, MOVIE]
    assert page.locator("#lines path.chosen").count() == (row >= 0.005).sum()
    drawn = page.locator("#lines path").count()
    others = found.weights[0, 0][[i for i in range(len(TOKENS)) if i != MOVIE]]
    assert drawn == (row >= 0.005).sum() + (others >= 0.05).sum()


def test_the_plot_of_entropy_has_every_head_at_its_height(opened, found, patterns_of):
    page = opened()
    points = page.eval_on_selector_all(
        "#entropy-plot .point", "nodes => nodes.map(n => [n.cx.baseVal.value, n.cy.baseVal.value])"
    )
    entropies = patterns_of(found).mean[:, :, 0].ravel()
    assert len(points) == 3 * 5
    heights = [-y for _, y in points]
    slope = (heights[1] - heights[0]) / (entropies[1] - entropies[0])
    for height, entropy in zip(heights, entropies, strict=True):
        assert height - heights[0] == pytest.approx(slope * (entropy - entropies[0]), abs=0.5)
    page.locator("#entropy-plot [data-layer='2'][data-head='3']").click()
    assert page.text_content("#detail-title") == "Layer 3, head 4"
    assert page.text_content("#entropy-plot .chosen title").startswith("Layer 3, head 4: ")


def test_the_table_is_sorted_and_chooses(opened, found, patterns_of):
    page = opened()
    page.get_by_role("button", name="distance").click()
    assert page.get_attribute("th:has-text('distance')", "aria-sort") == "descending"
    patterns = patterns_of(found)
    distances = patterns.mean[:, :, patterns.measures.index("distance")]
    shown = page.eval_on_selector_all("tbody tr", "rows => rows.map(r => r.cells[4].textContent)")
    assert shown == [f"{value:.3f}" for value in sorted(distances.ravel(), reverse=True)]
    page.locator("tbody tr").first.click()
    layer, head = divmod(int(distances.argmax()), 5)
    assert page.text_content("#detail-title") == f"Layer {layer + 1}, head {head + 1}"
    described = page.locator("#measures dd").nth(2).text_content()
    assert described == f"{distances.max():.3f}"


def test_light_and_dark(opened):
    page = opened(color_scheme="dark")
    colours = "[document.body, document.querySelector('.token')].map(n => getComputedStyle(n))"
    colours = f"{colours}.map(style => style.backgroundColor)"
    dark = page.evaluate(colours)
    assert max(int(part) for part in dark[0][4:-1].split(",")) < 40
    page.click("#theme")
    light = page.evaluate(colours)
    assert min(int(part) for part in light[0][4:-1].split(",")) > 220 and light[1] != dark[1]
    assert page.text_content("#theme") == "Dark theme"
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    assert page.evaluate(colours) == dark


def test_a_phone(opened, found):
    page = opened(viewport={"width": 360, "height": 740}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.tap(f"#tokens [data-token='{FILM}']")
    assert numbers(page) == expected(found, 0, 0, FILM)
    sides = page.eval_on_selector_all(
        "#grid button, button, select", "nodes => nodes.map(n => n.offsetHeight)"
    )
    assert min(sides) >= 24


def test_the_list_beside_a_short_text_is_no_taller_than_it_needs_to_be(opened):
    page = opened()
    bottom = "name => document.querySelector(name).getBoundingClientRect().bottom"
    empty = page.evaluate(bottom, ".reading") - page.evaluate(bottom, "#scale")
    assert 0 <= empty < 40
    list_height, row_height = (
        page.eval_on_selector(name, "node => node.getBoundingClientRect().height")
        for name in ("#looks", "#looks li")
    )
    assert list_height > 6 * row_height
