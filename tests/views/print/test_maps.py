"""Views made of heat maps: every dot is its number, two measures are compared by shares, long texts keep their peaks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from headscope.errors import InputError
from headscope.views.content import Content
from headscope.views.print import draw
from headscope.views.print.neuron import softmax
from headscope.views.print.thinning import thinned
from headscope.views.state import State
from tests.views.print.contents import SIDE, plain_content, random_content

CONTENT = random_content(heads=(0, 1, 2, 3))


def image(figure: Figure, gid: str) -> np.ndarray:
    (found,) = [one for one in figure.axes[0].images if one.get_gid() == gid]
    array = found.get_array()
    assert array is not None
    return np.asarray(array)


def written(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.axes[0].texts)


def test_a_matrix_is_its_scores() -> None:
    figure = draw(CONTENT, State(view="matrix", layer=1, heads=(3, 0)))
    weights = CONTENT.attentions[1].scores["weight"]
    np.testing.assert_array_equal(image(figure, "map 0 0"), weights[3])
    np.testing.assert_array_equal(image(figure, "map 1 0"), weights[0])
    first = draw(CONTENT, State(view="matrix"))
    np.testing.assert_array_equal(image(first, "map 0 0"), CONTENT.attentions[0].scores["weight"][0])


def test_two_measures_differ_by_their_shares_of_rows() -> None:
    figure = draw(CONTENT, State(view="matrix", heads=(2,), compare="norm", sinks="hidden"))
    scores, ordinary = CONTENT.attentions[0].scores, ~np.array(SIDE.special)
    weight, norm = scores["weight"][2], scores["norm"][2]
    shares = norm / norm.sum(-1, keepdims=True) - weight / weight.sum(-1, keepdims=True)
    np.testing.assert_array_equal(image(figure, "map 0 0"), weight[ordinary][:, ordinary])
    np.testing.assert_array_equal(image(figure, "map 0 1"), norm[ordinary][:, ordinary])
    np.testing.assert_allclose(image(figure, "map 0 2"), shares[ordinary][:, ordinary], atol=1e-6)
    assert "norm − weight, shares of the row" in written(figure)


def test_the_largest_differences_are_drawn() -> None:
    weight, norm = (CONTENT.attentions[0].scores[name][0] for name in ("weight", "norm"))
    apart = norm / norm.sum(-1, keepdims=True) - weight / weight.sum(-1, keepdims=True)
    figure = draw(CONTENT, State(view="matrix", compare="norm", top=1))
    drawn = image(figure, "map 0 2")
    assert (np.count_nonzero(drawn, axis=1) == 1).all()
    np.testing.assert_allclose(drawn.sum(1), np.take_along_axis(apart, np.abs(apart).argmax(1)[:, None], 1)[:, 0], atol=1e-6)


def test_signed_scores_are_white_at_zero() -> None:
    figure = draw(CONTENT, State(view="matrix", measure="effective"))
    (found,) = [one for one in figure.axes[0].images if one.get_gid() == "map 0 0"]
    low, high = found.get_clim()
    assert low == -high == -np.abs(CONTENT.attentions[0].scores["effective"][0]).max()
    assert found.to_rgba(np.array([[0.0]]))[0, 0, :3] == pytest.approx(1, abs=0.01)


def test_thresholds_leave_out_and_kept_tokens_do_not() -> None:
    weights = CONTENT.attentions[0].scores["weight"][0]
    figure = draw(CONTENT, State(view="matrix", top=1, keep=("q1",)))
    drawn = image(figure, "map 0 0")
    np.testing.assert_array_equal(drawn.max(-1), weights.max(-1))
    assert ((drawn > 0).sum(-1) == 1).all()


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12), st.integers(0, 99))
def test_thinning_keeps_peaks(rows: int, columns: int, most: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    small = thinned(scores, most)
    assert max(small.shape) <= most
    assert np.abs(small).max() == np.abs(scores).max()
    step = -(-rows // most), -(-columns // most)
    block = scores[: step[0], : step[1]].ravel()
    assert small[0, 0] == block[np.abs(block).argmax()]


def test_long_texts_are_thinned_and_it_is_said() -> None:
    content = plain_content([str(place) for place in range(600)], layers=1, heads=(0,))
    figure = draw(content, State(view="matrix"))
    assert image(figure, "map 0 0").shape == (300, 300)
    assert image(figure, "map 0 0").max() == content.attentions[0].scores["weight"].max()
    assert "the largest of 2 × 2 pairs of tokens" in written(figure)
    labels = [text.get_text() for text in figure.axes[0].texts if text.get_text().isdecimal()]
    assert 20 < len(labels) < 200, "labels are thinned out too"


def test_small_heat_maps_of_the_model_view() -> None:
    content = plain_content([str(place) for place in range(30)])
    images = draw(content, State(view="model")).axes[0].images
    for found, (layer, head) in zip(images, [(layer, head) for layer in range(2) for head in range(3)], strict=True):
        weights = content.attentions[layer].scores["weight"][head]
        np.testing.assert_array_equal(np.asarray(found.get_array()), weights)
        assert found.get_clim() == (0, weights.max())


def test_neurons_of_heads_that_share_keys() -> None:
    figure = draw(CONTENT, State(view="neuron", layer=1, heads=(3,), keep=("q6",)))
    attention = CONTENT.attentions[1]
    assert attention.neurons is not None
    assert attention.value_norm is not None
    query, keys = attention.neurons.queries[3, 6], attention.neurons.keys[1]
    np.testing.assert_array_equal(image(figure, "query"), query[None])
    np.testing.assert_array_equal(image(figure, "keys"), keys)
    np.testing.assert_array_equal(image(figure, "products"), query * keys)
    weights = attention.scores["weight"][3, 6]
    np.testing.assert_allclose(softmax(attention.neurons.scaling * (query * keys).sum(-1)), weights, atol=1e-6)
    for title, numbers in (
        ("weight", weights),
        ("‖f(x)‖", attention.value_norm[3]),
        ("weight × ‖f(x)‖", weights * attention.value_norm[3]),
    ):
        lengths = np.array([bar.get_width() for bar in figure.axes[0].patches if bar.get_gid() == title])  # type: ignore[attr-defined]
        np.testing.assert_allclose(lengths / lengths.max(), numbers / numbers.max(), rtol=1e-4)
    assert "query q of it" in written(figure)


def test_the_query_is_the_last_ordinary_token() -> None:
    figure = draw(CONTENT, State(view="neuron"))
    assert "query q of sat" in written(figure)


def test_the_query_of_a_kept_word_is_its_first_piece() -> None:
    figure = draw(CONTENT, State(view="neuron", level="word", keep=("q3",)))
    assert "query q of cat" in written(figure)  # the fourth piece is ##real


def test_neurons_between_two_texts_by_another_measure() -> None:
    attention = CONTENT.attentions[0]
    figure = draw(CONTENT, State(view="neuron", pairs="ba", sinks="hidden", measure="norm", top=1, keep=("q1", "q6")))
    assert "query q of it" in written(figure)  # q1 is of the first text
    norms = attention.scores["norm"][0, 6]
    most = 1 + int(norms[1:5].argmax())
    assert attention.neurons is not None
    np.testing.assert_allclose(image(figure, "keys"), attention.neurons.keys[0, [most]], rtol=1e-6)
    hidden = norms[[0, 5, 8]].sum() / norms.sum()
    assert f"{100 * hidden:.0f}% of the norm is on special tokens" in written(figure)


def test_unseen_and_hidden_keys_are_left_out_and_said() -> None:
    weights = CONTENT.attentions[0].scores["weight"].copy()
    weights[:, :, 5:] = 0
    weights /= weights.sum(-1, keepdims=True)
    causal = replace(CONTENT.attentions[0], scores={"weight": weights})
    figure = draw(Content("", CONTENT.sides, [causal]), State(view="neuron", sinks="hidden"))
    assert image(figure, "keys").shape[0] == 4
    assert "4 tokens that this one does not see are left out." in written(figure)
    assert f"{100 * weights[0, 7, 0]:.0f}% of the weight is on special tokens" in written(figure)


def test_neurons_that_are_not_there_and_weights_that_are_not_their_softmax() -> None:
    attention = CONTENT.attentions[0]
    assert attention.neurons is not None
    with pytest.raises(InputError, match="There are no queries and keys of layer 0 here"):
        draw(Content("", CONTENT.sides, [replace(attention, neurons=None)]), State(view="neuron"))
    biased = replace(attention.neurons, exact=False, why="a position bias stands between")
    figure = draw(Content("", CONTENT.sides, [replace(attention, neurons=biased, value_norm=None)]), State(view="neuron"))
    assert "not the softmax of q·k alone: a position bias stands between." in written(figure)
    assert "‖f(x)‖" not in written(figure)
