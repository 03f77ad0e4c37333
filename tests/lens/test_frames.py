"""A reading as tables: every number is where the tensors have it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import headscope
from headscope.lens import frames
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def reading(request: pytest.FixtureRequest) -> Iterator[headscope.Reading]:
    tokenizer = tiny_tokenizer("wordpiece" if request.param == "bert" else "bpe")
    with headscope.open(tiny(request.param), tokenizer) as lens:
        yield lens.read("the unbelievable cat sat")


@pytest.mark.parametrize("level", ["token", "word"])
def test_every_score_is_in_one_row(reading: headscope.Reading, level: str) -> None:
    reading = reading.to_words() if level == "word" else reading
    frame = reading.to_frame("weight", "norm")
    weight, norm = reading.scores("weight"), reading.scores("norm")
    causal = reading.is_without_sinks()
    count = len(reading.tokens)
    assert len(frame) == 12 * (count * (count + 1) // 2 if causal else count**2)
    assert not frame.duplicated(["layer", "head", "query", "key"]).any()
    places = tuple(frame[name].to_numpy() for name in ("layer", "head", "query", "key"))
    np.testing.assert_array_equal(frame["weight"], weight.numpy()[places])
    np.testing.assert_array_equal(frame["norm"], norm.numpy()[places])
    assert frame["weight"].sum() == pytest.approx(weight.sum().item(), rel=1e-5)  # nothing that counts is left out
    assert list(frame["query_token"]) == [reading.query_texts()[place] for place in frame["query"]]
    assert list(frame["key_token"]) == [reading.key_texts()[place] for place in frame["key"]]
    assert list(frame["sink"]) == [reading.sinks()[place] for place in frame["key"]]


def test_one_layer_a_measure_of_all_heads_and_one_of_single_tokens(reading: headscope.Reading) -> None:
    assert set(reading.to_frame(layer=1)["layer"]) == {1}
    joint = reading.to_frame("joint_norm", layer=2)
    assert joint["head"].isna().all()
    assert joint["joint_norm"].to_numpy()[-1] == reading.scores("joint_norm", layer=2)[0, -1, -1].item()
    each = reading.to_frame("value_norm")
    assert "query" not in each
    np.testing.assert_array_equal(each["value_norm"], reading.scores("value_norm").flatten())


@pytest.mark.parametrize("measures", [("weight", "joint_norm"), ("norm", "value_norm")])
def test_what_does_not_go_into_one_table_is_said(reading: headscope.Reading, measures: tuple[str, ...]) -> None:
    with pytest.raises(headscope.HeadscopeError, match="are not numbers of the same things"):
        reading.to_frame(*measures)
    with pytest.raises(headscope.HeadscopeError, match="no measure 'weigth'"):
        reading.to_frame("weigth")


def test_a_table_that_no_memory_holds_is_refused(reading: headscope.Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST", 100)
    with pytest.raises(headscope.HeadscopeError, match="ask for one layer with layer="):
        reading.to_frame()


@pytest.mark.parametrize("without_sinks", [None, True, False])
def test_the_strongest_links_come_first(reading: headscope.Reading, without_sinks: bool | None) -> None:
    top = reading.top(5, "norm", without_sinks=without_sinks)
    strongest = sorted(reading.strongest("norm", without_sinks=without_sinks), key=lambda one: -one.score)
    assert len(top) == 5
    assert [f"{row.layer}.{row.head}" for row in strongest[:5]] == list(
        top["layer"].astype(str) + "." + top["head"].astype(str)
    )
    first = top.iloc[0]
    assert first["norm"] == reading.scores("norm")[first.layer, first["head"], first["query"], first["key"]].item()
    assert (first.query_token, first.key_token) == strongest[0].link
    assert len(reading.top(1000)) == 12
    if without_sinks:
        assert not any(reading.sinks()[key] for key in top["key"])


def test_a_number_of_each_token_has_no_links(reading: headscope.Reading) -> None:
    with pytest.raises(headscope.HeadscopeError, match=r"see reading.to_frame\('value_norm'\)"):
        reading.top(3, "value_norm")


def test_cross_attention_is_of_two_texts() -> None:
    with headscope.open(tiny("marian"), tiny_tokenizer("unigram")) as lens:
        reading = lens.read("the cat sat", target="a dog")
    frame = reading.to_frame(kind="cross")
    assert len(frame) == 2 * 4 * len(reading.target_tokens) * len(reading.tokens)
    assert set(frame["stack"]) == {"decoder"}
    assert pd.unique(frame["kind"]) == ["cross"]
    assert reading.top(3, kind="cross")["key"].max() < len(reading.tokens)


def test_a_reading_shows_itself(reading: headscope.Reading) -> None:
    view = reading.view("matrix", layer=1, heads=[2])
    assert isinstance(view, headscope.View)
    assert (view.state.view, view.state.layer, view.state.heads) == ("matrix", 1, (2,))
    assert reading.view().state.view == "head"
    with pytest.raises(headscope.HeadscopeError, match="no view 'heads'"):
        reading.view("heads")
