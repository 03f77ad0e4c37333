"""What is shown of an attention: thresholds, the top ones, pairs, words, hidden and kept tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.views.merging import merge_pieces
from headscope.views.print.shown import Shown, attention_of, choose, shown
from headscope.views.state import State
from tests.views.print.contents import SIDE, random_content

CONTENT = random_content()


def found(**choices: object) -> Shown:
    state = State(**choices).fitted(CONTENT)  # type: ignore[arg-type]
    return shown(CONTENT, state, attention_of(CONTENT, state))


@given(st.integers(0, 50), st.integers(0, 6), st.floats(0, 1))
def test_top_and_threshold_against_sorting(seed: int, top: int, least: float) -> None:
    scores = np.random.default_rng(seed).normal(size=(2, 3, 5)).astype(np.float32)
    drawn = choose(scores, top, least)
    for head in range(2):
        for row in range(3):
            sizes = np.abs(scores[head, row])
            largest = set(sorted(range(5), key=lambda key: -sizes[key])[: top or 5])
            expected = {key for key in largest if sizes[key] >= least * np.abs(scores).max()}
            assert set(np.flatnonzero(drawn[head, row]).tolist()) == expected


def test_hidden_special_tokens_and_their_share() -> None:
    weights = CONTENT.attentions[0].scores["weight"]
    ordinary = ~np.array(SIDE.special)
    kept = found(sinks="hidden")
    assert kept.queries.labels == ["the", "un", "##real", "cat", "it", "sat"]
    np.testing.assert_array_equal(kept.scores, weights[:, ordinary][..., ordinary])
    assert kept.hidden == pytest.approx(float(weights[:, ordinary][..., ~ordinary].sum(-1).mean()), rel=1e-5)
    assert kept.notes() == [f"{100 * kept.hidden:.0f}% of the weight is on special tokens, not shown."]
    assert (found().hidden, found().notes()) == (0, [])


def test_pairs() -> None:
    assert found(pairs="ba").queries.labels == ["it", "sat", "[SEP]"]
    assert found(pairs="ba").keys.labels == TOKENS_A
    np.testing.assert_array_equal(found(pairs="ab").scores, CONTENT.attentions[0].scores["weight"][:, :6, 6:])


TOKENS_A = ["[CLS]", "the", "un", "##real", "cat", "[SEP]"]


def test_words() -> None:
    words = found(level="word", sinks="hidden")
    assert words.keys.labels == ["the", "unreal", "cat", "it", "sat"]
    merged = merge_pieces(CONTENT.attentions[0].scores["weight"], SIDE.word_of, SIDE.word_of)
    np.testing.assert_array_equal(words.scores[1, 1], merged[1, 2][[1, 2, 3, 5, 6]])


def test_kept_tokens_isolate_and_do_not_move_the_threshold() -> None:
    usual, kept = found(least=0.3), found(least=0.3, keep=("q4", "k1"))
    np.testing.assert_array_equal(usual.drawn, kept.drawn)
    alone = kept.isolated().drawn
    assert alone.any()
    assert not alone[:, [0, 1, 2, 3, 5, 6, 7, 8]][..., [0, 2, 3, 4, 5, 6, 7, 8]].any()
    np.testing.assert_array_equal(alone[:, 4], usual.drawn[:, 4])
    np.testing.assert_array_equal(alone[..., 1], usual.drawn[..., 1])
    hidden = found(keep=("q0",), sinks="hidden")
    assert hidden.isolated().drawn.all(), "a token that is hidden cannot be kept, so all others are shown"


def test_shares_of_rows_sum_to_one_for_every_measure() -> None:
    for measure in ("weight", "norm", "joint_norm"):
        np.testing.assert_allclose(found(measure=measure).of_rows.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(np.abs(found(measure="effective").of_rows).sum(-1), 1, atol=1e-5)
    hidden = found(measure="norm", sinks="hidden")
    assert (hidden.of_rows.sum(-1) < 1).all(), "what is hidden still counts"


def test_heads_have_the_models_own_numbers() -> None:
    content = random_content(heads=(2, 5, 7))
    state = State(layer=1).fitted(content)
    some = shown(content, state, attention_of(content, state), [7, 2])
    assert some.labels == ["1.7", "1.2"]
    np.testing.assert_array_equal(some.scores, content.attentions[1].scores["weight"][[2, 0]])
    joint = shown(content, state, attention_of(content, state), [7], "joint_norm")
    assert (joint.labels, joint.scores.shape[0]) == (["layer 1, all heads"], 1)


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"keep": ("x1",)}, "'x1' names no token to keep"),
        ({"keep": ("q99",)}, "There is no token q99 to keep: the last is q8"),
    ],
)
def test_errors(choices: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        found(**choices)


def test_pairs_of_one_text() -> None:
    content = random_content(SIDE.plain(["one", "text"]))
    state = State(pairs="ab").fitted(content)
    with pytest.raises(InputError, match="this is no pair of texts"):
        shown(content, state, attention_of(content, state))
