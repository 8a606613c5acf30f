import base64
import dataclasses
import json
import re
import zlib

import numpy as np
import pytest

from kerazoo.analysis.attention_page import check_page_path, write_attention_page

MARKUP = '</script><b>&"'


def content(path):
    """What the page's script reads."""
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text("utf-8"), re.S)[1])


def weights_of(page):
    data = zlib.decompress(base64.b64decode(page["weights"]))
    low, high = np.frombuffer(data, "uint8").reshape(2, -1).astype("int64")
    return low + 256 * high


@pytest.fixture
def found(make_attention_map):
    offsets = [[-1, -1], [0, 14], [-1, -1], [0, 1], [1, 2], [-1, -1]]
    tokens = ["[CLS]", MARKUP, "[SEP]", "电", "影", "[SEP]"]
    return make_attention_map((MARKUP, "电影"), tokens, [0, 0, 0, 1, 1, 1], offsets)


def test_every_weight_is_the_arrays_to_the_digits_that_are_shown(found, patterns_of, tmp_path):
    found.weights[0, 0, 0] = [0.03125, 0.00015, 0.99995, 1, 0, 0.50005]  # halves, ends
    write_attention_page(found, patterns_of(found), tmp_path / "page.html")
    page = content(tmp_path / "page.html")
    shown = [f"{number / page['scale']:.4f}" for number in weights_of(page)]
    assert shown == [f"{weight:.4f}" for weight in found.weights.ravel()]
    assert (page["layers"], page["heads"], page["weight_decimals"]) == (3, 5, 4)


def test_measures_are_the_patterns_and_those_that_mean_nothing_are_left_out(
    found, patterns_of, tmp_path
):
    patterns = patterns_of(found)
    write_attention_page(found, patterns, tmp_path / "page.html")
    page = content(tmp_path / "page.html")
    names = [measure["name"] for measure in page["measures"]]
    assert names == [name for name in patterns.measures if name != "to_next"]
    column = patterns.measures.index("distance")
    shown = [f"{v:.3f}" for row in page["measures"][2]["values"] for v in row]
    assert shown == [f"{v:.3f}" for v in patterns.mean[:, :, column].ravel()]
    assert page["layer_entropy"] == patterns.layer_mean[:, 0].round(3).tolist()
    assert page["uniform_entropy"] == pytest.approx(np.log(6))


def test_uniform_attention_of_a_causal_model_has_less_entropy(found, patterns_of, tmp_path):
    causal = dataclasses.replace(found, weights=np.tril(found.weights))
    write_attention_page(causal, patterns_of(found), tmp_path / "page.html")
    expected = np.log([1, 2, 3, 4, 5, 6]).mean()
    assert content(tmp_path / "page.html")["uniform_entropy"] == pytest.approx(expected)


def test_markup_in_a_text_stays_text(found, patterns_of, tmp_path):
    write_attention_page(found, patterns_of(found), tmp_path / "page.html", title=MARKUP)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert text.count("</script>") == 2 and "<b>" not in text
    assert "Attention of &lt;/script&gt;&lt;b&gt;&amp;&quot;" in text
    page = content(tmp_path / "page.html")
    assert page["texts"] == [MARKUP, "电影"]
    assert [token["label"] for token in page["tokens"]] == found.tokens


def test_one_file_that_points_nowhere(found, patterns_of, tmp_path):
    write_attention_page(found, patterns_of(found), tmp_path / "deep" / "page.html")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["page.html"]
    text = (tmp_path / "deep" / "page.html").read_text("utf-8")
    assert set(re.findall(r'(?:src|href)="([^"]*)"', text)) == {"data:,"}
    assert set(re.findall(r"https?://[^\"']*", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text and "$" not in text.split("<script")[0]


def test_a_large_model_fits_into_two_megabytes(make_attention_map, patterns_of, tmp_path):
    tokens = [f"token{number}" for number in range(64)]
    found = make_attention_map(("text",), tokens, layers=12, heads=12)
    write_attention_page(found, patterns_of(found), tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 2_000_000


def test_patterns_of_something_else_are_refused(found, patterns_of, tmp_path):
    patterns = patterns_of(found)
    for other in (
        dataclasses.replace(patterns, texts=2),
        dataclasses.replace(patterns, mean=patterns.mean[:2]),
    ):
        with pytest.raises(ValueError, match="Give the patterns of the same model"):
            write_attention_page(found, other, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_another_ending_is_refused():
    check_page_path("page.HTM")
    with pytest.raises(ValueError, match="A page is an .html file"):
        check_page_path("page.png")
