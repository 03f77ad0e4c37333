"""The four views as Python gives them: what they hold, how they show and save themselves, what they refuse."""

from __future__ import annotations

import html
import inspect
import re
import subprocess
import sys
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.lens.reading import Reading
from headscope.views import State
from headscope.views.state import VIEWS
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer
from tests.views import decoding

SCORES = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 4, 3)).astype(np.float32)  # layer head query key
TOKENS = ["the", "cat", "sleeps"]


@pytest.mark.parametrize("make", [headscope.head_view, headscope.model_view, headscope.matrix_view])
def test_plain_arrays_make_a_view(make: object, tmp_path: Path) -> None:
    view = make(tokens=TOKENS, scores=SCORES)  # type: ignore[operator]
    description, chunks = decoding.parts(view.save(tmp_path / "x.html").read_text())
    assert len(description["attentions"]) == 2
    shown = decoding.scores(description["attentions"][1], chunks, "weight")
    assert np.abs(shown - SCORES[1]).max() <= 1 / 255


def test_every_view_says_which_model_and_text_it_shows() -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="my <bert>") as lens:
        view = headscope.head_view(lens.read("the cats sat").to_words())
    page = view.html()
    description, _ = decoding.parts(page)
    assert (description["model"], description["title"]) == ("my <bert>", "the cats sat")
    assert "<title>the cats sat · my &lt;bert&gt; · headscope</title>" in page
    described = headscope.head_view(tokens=TOKENS, scores=SCORES).content
    assert (described.model, described.title) == ("", "the cat sleeps")  # nobody knows whose these arrays are


def test_a_notebook_gets_a_frame_with_the_whole_page() -> None:
    view = headscope.head_view(tokens=TOKENS, scores=SCORES)
    frame = view._repr_html_()
    inside = re.search(r'srcdoc="([^"]*)"', frame)
    assert inside is not None
    assert html.unescape(inside[1]) == view.html()
    assert "allow-same-origin" not in frame  # the page cannot reach the notebook


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_figures_are_the_same_every_time(kind: str, tmp_path: Path) -> None:
    view = headscope.head_view(tokens=TOKENS, scores=SCORES, layer=1, heads=[2])
    first, second = (view.save(tmp_path / f"{name}.{kind}").read_bytes() for name in "ab")
    assert first == second
    assert first[:4] in (b"<?xm", b"%PDF", b"\x89PNG")


def test_choices_go_into_the_address() -> None:
    view = headscope.matrix_view(tokens=TOKENS, scores=SCORES, layer=1, heads=[2], without_sinks=True, theme="dark")
    description, _ = decoding.parts(view.html())
    assert description["state"] == "view=matrix&layer=1&heads=2&sinks=hidden&theme=dark"
    assert view.with_state(layer=0).state.layer == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layer": 7}, "no layer 7: choose one of 0, 1"),
        ({"heads": [9]}, "no head 9"),
        ({"measure": "norm"}, "no measure 'norm'"),
        ({"attention": "decoder cross"}, "no attention"),
        ({"level": "letter"}, "no level"),
        ({"theme": "blue"}, "no theme 'blue'"),
        ({"sort": "entropy.entropy"}, "no statistic 'entropy.entropy' to sort heads by: there are none, since no run"),
        ({"keep": ["x3"]}, "'x3' names no token to keep"),
        ({"keep": ["k3"]}, "no token k3 to keep: the last is k2"),
        ({"special": [True]}, "of 1 tokens .* there are 3"),
    ],
)
def test_what_is_not_there_is_said_at_once(options: dict[str, object], words: str) -> None:
    with pytest.raises(headscope.HeadscopeError, match=words):
        headscope.head_view(tokens=TOKENS, scores=SCORES, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("view", VIEWS)
def test_help_says_what_a_view_takes(view: str) -> None:
    show = getattr(headscope, f"{view}_view")
    options = list(inspect.signature(show).parameters)
    assert options[:4] == ["reading", "tokens", "sentence_b_start", "scores"]  # the first three as bertviz has them
    assert all(option in show.__doc__ for option in options)
    assert show.__name__ == f"{view}_view"
    with pytest.raises(TypeError, match="without_sink"):
        show(tokens=TOKENS, scores=SCORES, without_sink=True)


def test_neither_a_reading_nor_arrays() -> None:
    with pytest.raises(headscope.HeadscopeError, match="needs a reading"):
        headscope.head_view()
    with pytest.raises(headscope.HeadscopeError, match="queries and keys"):
        headscope.neuron_view(tokens=TOKENS, scores=SCORES)


@pytest.mark.parametrize(
    ("tokens", "scores", "words"),
    [
        ([], np.zeros((0, 0)), "no tokens to draw"),
        (["a", "b"], [[1.0], [0.5, 0.5]], "rows all have the same length"),
        (["a"], [[float("nan")]], "not finite"),
    ],
)
def test_arrays_that_are_none(tokens: list[str], scores: object, words: str) -> None:
    with pytest.raises(headscope.HeadscopeError, match=words):
        headscope.head_view(tokens=tokens, scores=scores)


def test_a_title_is_text(tmp_path: Path) -> None:
    view = headscope.head_view(tokens=["a"], scores=[[1.0]], title="</title><script>alert(1)</script>\ud800\u202e")
    written = view.save(tmp_path / "x.html").read_text()
    assert "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;U+D800&gt;&lt;U+202E&gt; · headscope" in written
    view.save(tmp_path / "x.svg")


def test_a_text_is_no_reading() -> None:
    with pytest.raises(headscope.HeadscopeError, match=r"lens\.read\(\.\.\.\) returns it, not a str"):
        headscope.head_view("the cat sleeps")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def reading() -> Reading:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        return lens.read("the unbelievable cat sat")


def test_norms_of_some_heads_are_those_of_all(reading: Reading) -> None:
    some = headscope.head_view(reading, only={1: [3, 0]}, measure="joint_norm").content.attentions[0]
    np.testing.assert_allclose(some.scores["norm"], reading.scores("norm")[1, [0, 3]].numpy(), rtol=1e-6)
    np.testing.assert_allclose(some.scores["joint_norm"], reading.scores("joint_norm")[1].numpy(), rtol=1e-6)  # of all heads


def test_a_number_of_each_token_is_no_map(reading: Reading) -> None:
    with pytest.raises(headscope.HeadscopeError, match="value_norm is a number of each token"):
        headscope.head_view(reading, measure="value_norm")


def test_a_model_without_norms_says_why(reading: Reading) -> None:
    blocks = []
    for block in reading.blocks.values():
        blind = copy(block)
        blind.site = replace(block.site, why_no_norms="its projection was not found")
        blocks.append(blind)
    weights_only = Reading(blocks, reading.batch)
    assert headscope.head_view(weights_only).content.measures == ["weight"]
    assert headscope.head_view(weights_only, measures=["norm"]).content.measures == ["weight"]
    with pytest.raises(headscope.HeadscopeError, match="'norm' can't be had of this model, because its projection"):
        headscope.head_view(weights_only, measure="norm")


def test_a_file_of_another_kind_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(headscope.HeadscopeError, match=r"one of \.html, \.svg, \.pdf, \.png"):
        headscope.head_view(tokens=TOKENS, scores=SCORES).save(tmp_path / "x.docx")
    assert list(tmp_path.iterdir()) == []


def test_columns_of_other_tokens() -> None:
    view = headscope.head_view(tokens=["le", "chat"], key_tokens=TOKENS, scores=np.ones((2, 3)) / 3)
    attention = view.content.attentions[0]
    assert (attention.kind, attention.query, attention.key) == ("cross", "target", "source")
    assert view.content.sides["source"].tokens == TOKENS


@pytest.mark.real
def test_a_reading_in_words_opens_in_words(minilm: Path) -> None:
    with headscope.open(minilm) as lens:
        reading = lens.read("An unbelievably heavy cabinet.")
        assert headscope.head_view(reading.to_words()).state == State(level="word")
        view = headscope.head_view(reading)
    assert view.content.measures == ["weight", "norm", "joint_norm", "effective"]
    assert view.content.attentions[0].neurons is not None


@pytest.mark.real
def test_cross_attention_has_two_sides(opus: Path) -> None:
    with headscope.open(opus) as lens:
        view = headscope.head_view(lens.read("Le chat dort.", target="The cat sleeps."), attention="cross")
        assert headscope.head_view(lens.read("Le chat dort."), attention="self").state.attention == "encoder self"
    assert view.content.groups == ["encoder self", "decoder self", "decoder cross"]
    assert view.state.attention == "decoder cross"
    cross = view.content.of_group("decoder cross")[0]
    assert cross.scores["weight"].shape[1:] == (len(view.content.sides["target"]), len(view.content.sides["source"]))
    assert view.content.sides["source"].tokens[0] == "Le"


def test_a_difference_opens_at_the_head_that_changed_most() -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="bert") as lens:
        a, b = lens.read("the cats sat"), lens.read("the old cat sat")
    view = headscope.difference_view(a, b)
    (change,) = view.content.statistics
    layer, head = max(change.values, key=lambda name: change.values[name]).split()[-1].split(".")
    assert (view.state.view, view.state.sort) == ("model", "change")
    assert (view.state.layer, view.state.heads) == (int(layer), (int(head),))
    assert headscope.matrix_view(a, against=b, layer=1).state.heads is None
    assert headscope.difference_view(a, b, view="head", title="mine").content.title == "mine"
    assert view.with_state(of="b").fitted.of == "b"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"of": "c"}, "no of 'c'"),
        ({"compare": "norm"}, "leave compare out"),
        ({"view": "neuron"}, "no neuron view"),
    ],
)
def test_what_a_difference_has_not(options: dict[str, str], words: str) -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        reading = lens.read("the cats sat")
    with pytest.raises(headscope.HeadscopeError, match=words):
        headscope.difference_view(reading, reading, **options)
    with pytest.raises(headscope.HeadscopeError, match="about the difference of two"):
        headscope.head_view(reading, of="a")
    with pytest.raises(headscope.HeadscopeError, match="a second reading to compare"):
        headscope.head_view(tokens=TOKENS, scores=SCORES, against=reading)


def test_which_views_there_are_is_known_before_any_is_asked_for() -> None:
    asked = "from headscope.views.state import VIEWS; print(*VIEWS)"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["head", "model", "neuron", "matrix"]
