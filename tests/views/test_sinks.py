"""Sinks in contents, states, bytes and figures: what is shown and what is hidden add up, and who is hidden when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import headscope
from headscope.errors import InputError
from headscope.lens.sinks import renormalised
from headscope.views.content import Attention, Content, Side
from headscope.views.from_arrays import content_of_arrays
from headscope.views.from_reading import content_of
from headscope.views.pack import pack
from headscope.views.print.columns import share_said
from headscope.views.print.drawing import draw
from headscope.views.print.shown import attention_of, shown
from headscope.views.quantise import quantise, quantise_with_norms
from headscope.views.show import view_of
from headscope.views.state import State, sinks_chosen
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer
from tests.views.print.contents import random_content

TOKENS = ["The", "un", "##real", "cat", ",", "it", "sat", "down"]
SIDE = replace(
    Side.plain(TOKENS), words=["The", "unreal", "cat", ",", "it", "sat", "down"], word_of=[0, 1, 1, 2, 3, 4, 5, 6]
)


def decoder(sinks: list[bool] | None = None) -> Content:
    """Random weights of a decoder that sees nothing ahead."""
    content = random_content(SIDE)
    attentions = []
    for one in content.attentions:
        weights = np.tril(one.scores["weight"])
        weights /= weights.sum(-1, keepdims=True)
        assert one.value_norm is not None
        scores = {
            "weight": weights,
            "norm": weights * one.value_norm[:, None],
            "effective": np.tril(one.scores["effective"]),
        }
        attentions.append(replace(one, stack="decoder", scores=scores))
    return replace(content, attentions=attentions, sinks={} if sinks is None else {"decoder self": sinks})


COMMA = [place in (0, 4) for place in range(8)]
FIELDS = {"measure": st.sampled_from(["weight", "norm", "effective"]), "level": st.sampled_from(["token", "word"])}


@given(arrays(np.bool_, (8,)), st.fixed_dictionaries({**FIELDS, "layer": st.sampled_from([0, 1])}))
def test_what_is_shown_and_what_is_hidden_add_up_to_the_row(marks: np.ndarray, choices: dict[str, object]) -> None:
    content = decoder(marks.tolist())
    for sinks in ("hidden", "renormalised"):
        state = State(**choices, sinks=sinks).fitted(content)  # type: ignore[arg-type]
        rows, keys = content.beyond_sinks(attention_of(content, state), state.level)
        if not any(rows) or not any(keys):
            with pytest.raises(InputError, match="show them"):
                shown(content, state, attention_of(content, state))
            continue
        found = shown(content, state, attention_of(content, state))
        sums = np.abs(found.scores).sum(-1)
        if sinks == "hidden":
            assert sums + found.on_sinks == pytest.approx(found.totals, rel=1e-5, abs=1e-6)
        else:
            assert sums == pytest.approx(np.where(found.totals - found.on_sinks > 1e-6, 1, sums), rel=1e-3)
        whole = shown(content, replace(state, sinks="shown"), attention_of(content, state))
        assert whole.totals[:, found.queries.places] == pytest.approx(found.totals)
        assert found.hidden == pytest.approx(float(found.on_sinks.sum() / found.totals.sum()))
        assert found.hidden_of_rows.shape == (len(found.queries),)


def test_by_hand() -> None:
    weights = np.array([[[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.5, 0.25]]], dtype=np.float32)
    one = Attention("decoder", "self", 0, [0], "source", "source", {"weight": weights})
    content = Content("", {"source": Side.plain(["a", "b", "c"])}, [one])
    found = shown(content, State().fitted(content), one)
    assert (found.queries.labels, found.keys.labels) == (["b", "c"], ["b", "c"])
    assert found.scores.tolist() == [[[0.5, 0], [0.5, 0.25]]]
    assert (found.hidden, found.hidden_of_rows.tolist()) == (0.375, [0.5, 0.25])
    shares = shown(content, State(sinks="renormalised").fitted(content), one)
    assert shares.scores[0].tolist() == [[1, 0], [pytest.approx(2 / 3), pytest.approx(1 / 3)]]
    assert shares.of_rows.tolist() == shares.scores.tolist()
    torch.testing.assert_close(
        torch.from_numpy(shares.scores[0]),
        renormalised(torch.from_numpy(weights[0]), torch.tensor([True, False, False]))[1:, 1:],
    )


def test_when_they_are_hidden() -> None:
    content = decoder(COMMA)
    assert State().fitted(content).sinks == "hidden"
    assert State(sinks="shown").fitted(content).sinks == "shown"
    assert State(keep=("q3", "k1")).fitted(content).sinks == "hidden"
    assert State(keep=("k4",)).fitted(content).sinks == "shown", "what is kept is shown"
    assert State(keep=("q0",)).fitted(content).sinks == "shown"
    assert State(level="word", keep=("k3",)).fitted(content).sinks == "shown"
    assert State().fitted(decoder([True] * 8)).sinks == "shown", "nothing would be left"
    assert State().fitted(random_content()).sinks == "shown", "an encoder's"
    with pytest.raises(InputError, match="There is no choice of sinks 'gone'"):
        State(sinks="gone").fitted(content)  # type: ignore[arg-type]


def test_a_word_is_a_sink_if_a_piece_of_it_is() -> None:
    content = decoder([place in (0, 2) for place in range(8)])
    one = content.attentions[0]
    assert content.beyond_sinks(one, "token") == ([False, *[True] * 7], [False, True, False, *[True] * 5])
    assert content.beyond_sinks(one, "word") == ([False, False, *[True] * 5], [False, False, *[True] * 5])


def test_sinks_that_nobody_looked_for_are_those_of_any_text() -> None:
    assert decoder().sinks == {"decoder self": [True, *[False] * 7]}
    side = random_content().sides["source"]
    assert random_content().sinks == {"encoder self": side.special}
    assert decoder(COMMA).with_special_sinks().sinks == {"decoder self": [False] * 8}


def test_two_choices_become_one() -> None:
    assert [sinks_chosen(without, False) for without in (None, False, True)] == ["", "shown", "hidden"]
    assert sinks_chosen(True, True) == "renormalised"
    with pytest.raises(InputError, match="can't be renormalised with them in"):
        sinks_chosen(False, True)


@pytest.mark.parametrize("view", ["head", "model", "neuron", "matrix"])
def test_figures_say_what_is_hidden_in_all_and_on_each_row(view: str) -> None:
    content = decoder(COMMA)
    state = State(view=view, layer=1, heads=(1,), keep=("q6",) if view == "neuron" else ()).fitted(content)
    figure = draw(content, state)
    texts = [text.get_text() for text in figure.axes[0].texts]
    written = " ".join(texts)
    found = shown(content, state, content.attentions[1], [1])
    if view == "model":
        every = [shown(content, state, one) for one in content.attentions]
        share = sum(one.on_sinks.sum() for one in every) / sum(one.totals.sum() for one in every)
    else:
        share = found.hidden if view != "neuron" else found.hidden_of_rows[found.queries.places.index(6)]
    assert f"{100 * share:.0f}% of the weight" in written
    assert "is on sinks (The, ,), not shown" in written
    ends = [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "on sinks"]
    assert ends == ([share_said(float(one)) for one in found.hidden_of_rows] if view in ("head", "matrix") else [])
    assert "on sinks" not in " ".join(text.get_text() for text in draw(content, replace(state, sinks="shown")).axes[0].texts)


def test_arrays_of_a_decoder_are_known_by_their_shape() -> None:
    rng = np.random.default_rng(3)
    weights = np.tril(rng.uniform(0.1, 1, size=(2, 4, 9, 9)))
    weights[..., 3:, 2] = 6
    weights[..., 0] = 9
    weights = np.tril(weights) / np.tril(weights).sum(-1, keepdims=True)
    content = content_of_arrays([f"t{place}" for place in range(9)], weights)
    assert content.groups == ["decoder self"]
    assert content.sinks == {"decoder self": [place in (0, 2) for place in range(9)]}
    assert content_of_arrays(["a", "b", "c", "d"], np.eye(4)).groups == ["encoder self"]
    assert content_of_arrays(["a", "b", "c"], rng.uniform(size=(3, 3))).groups == ["encoder self"]


@given(st.integers(0, 1000))
def test_sinks_have_a_scale_apart(seed: int) -> None:
    """Whatever sinks get, other keys are off by half of 1/255 of the largest of these at most, by weight and by norm."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0, 0.02, size=(2, 6, 6)).astype(np.float32)
    apart = rng.random(6) < 0.4
    weights[..., apart] *= 49
    norms = rng.uniform(0.1, 9, size=(2, 6)).astype(np.float32)
    for kept, factors in ((quantise(weights, apart), None), (quantise_with_norms(weights, norms, apart), norms)):
        for factor in (np.ones_like(norms), norms) if factors is not None else (np.ones_like(norms),):
            off = np.abs(kept.scores() - weights) * factor[:, None]
            for keys in (apart, ~apart):
                most = (weights * factor[:, None])[..., keys].max((1, 2), initial=0)
                assert (off[..., keys].max((1, 2), initial=0) <= most * 0.502 / 255 + 1e-9).all()


@pytest.fixture(scope="module")
def reading() -> headscope.Reading:
    with headscope.open(tiny("gpt2"), tiny_tokenizer("bpe")) as lens:
        return lens.read("the cat sat on the mat and the dog sat on the cat")


def test_a_page_carries_them(reading: headscope.Reading) -> None:
    assert pack(content_of(reading)).description["sinks"] == {"decoder self": reading.sinks()}
    assert content_of(reading.to_words()).sinks == {"decoder self": reading.sinks()}


def test_a_page_without_sinks_is_no_larger(reading: headscope.Reading) -> None:
    without, with_them = (view_of("model", reading, **choice).html() for choice in ({}, {"without_sinks": False}))
    assert len(without) <= len(with_them)
    assert len(view_of("model", reading, without_sinks=True).html()) <= len(with_them) + len("hidden") - len("shown")


def test_functions_take_the_choice(reading: headscope.Reading) -> None:
    assert headscope.head_view(reading, renormalise=True).state.fragment() == "sinks=renormalised"
    assert headscope.model_view(reading, without_sinks=False).fitted.sinks == "shown"
    for without, labels in ((None, reading.key_texts()[1:-1]), (False, reading.key_texts())):
        figure = headscope.attention_map(reading, 1, 2, level="token", without_sinks=without)
        assert [text.get_text() for text in figure.axes[0].texts][1 : 1 + len(labels)] == labels


@pytest.mark.real
@pytest.mark.slow
def test_what_smollm_parks_on(smollm: Path) -> None:
    """Articles, spaces, a comma: which one it is depends on the text. Texts for which there is none have the first alone."""
    right = {
        "When Mary and John went to the store, John gave a drink to Mary": ["When", "the"],
        "In 1912, the Titanic sank. The ship, which was said to be unsinkable, hit an iceberg.": ["In", "␣"],
        "Mr. and Mrs. Dursley, of number four, Privet Drive, were proud to say that they were perfectly normal, thank you "
        "very much.": ["Mr", ","],
        "red, green, blue, yellow, red, green, blue, yellow, red, green": ["red"],
        "def add(a, b):\n    return a + b\n\ndef mul(a, b):\n    return a * b\n": ["def"],
    }
    with headscope.open(smollm) as lens:
        for text, sinks in right.items():
            reading = lens.read(text)
            found = [token for token, sink in zip(reading.key_texts(), reading.sinks(), strict=True) if sink]
            assert found == sinks


@pytest.mark.real
def test_minilm_parks_on_special_tokens_alone(minilm: Path) -> None:
    with headscope.open(minilm) as lens:
        for text in ("The keys to the cabinet are on the table.", "Yesterday, the old man, who lived by the sea, went out."):
            reading = lens.read(text)
            assert reading.sinks() == [token in ("[CLS]", "[SEP]") for token in reading.tokens]
