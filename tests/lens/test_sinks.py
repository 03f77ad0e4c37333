"""Which tokens are sinks: by hand, against loops over every row, and on a text that is read layer by layer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import headscope
from headscope.errors import InputError
from headscope.lens.sinks import TextSinks, known_sinks, parked_on, renormalised, rows_left, sinks_of
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

NONE = torch.zeros(6, dtype=torch.bool)


def causal(first: float, second: float, place: int = 2, count: int = 6) -> torch.Tensor:
    """(query, key): rows give `first` to token 0, `second` to the token at `place`, and the rest evenly to what they see."""
    weights = torch.zeros(count, count)
    for row in range(count):
        others = [key for key in range(row + 1) if key not in (0, place)]
        weights[row, others] = (1 - first - second) / max(1, len(others))
        weights[row, 0] = first
        if row >= place:
            weights[row, place] = second
    return weights / weights.sum(1, keepdim=True)


def test_by_hand() -> None:
    """Beyond token 0, token 2 gets 0.3 of 0.5 from rows 3 to 6: more than 2/3 is asked of row 3, which sees 3 keys."""
    weights = causal(0.5, 0.3, count=7)
    first = torch.tensor(known_sinks([False] * 7, causal=True))
    assert parked_on(weights[None], first, within=True).tolist() == [place == 2 for place in range(7)]
    assert not parked_on(weights[None, :6, :6], first[:6], within=True).any(), "three rows say nothing of it"
    weak = causal(0.5, 0.12, count=7)  # 0.12 of 0.5 is less than a quarter
    assert not parked_on(weak[None], first, within=True).any()


def test_most_heads_of_two_layers() -> None:
    parking, other = causal(0.5, 0.3, count=7), causal(0.5, 0.0, count=7)
    first = torch.tensor([True, *[False] * 6])
    half = parked_on(torch.stack([parking, other]), first, within=True)
    most = parked_on(torch.stack([parking, parking, other]), first, within=True)
    assert (half.any().item(), most.tolist()) == (False, [place == 2 for place in range(7)])
    assert sinks_of(first.tolist(), [most, half]) == first.tolist()
    assert sinks_of(first.tolist(), [most, half, most])[2]
    assert sinks_of(first.tolist(), [most])[2], "the only layer that was read"


def test_looking_at_oneself_is_no_parking() -> None:
    alone = torch.eye(6)[None] * 0.6 + 0.4 / 6
    assert not parked_on(alone, NONE, within=True).any()
    fan = torch.full((1, 6, 6), 0.08)
    fan[..., 3] = 0.6
    assert parked_on(fan, NONE, within=True).tolist() == [place == 3 for place in range(6)]


def test_a_sliding_window_counts_the_rows_that_see_a_key() -> None:
    """Token 1 is seen by rows 2 to 5 alone, all of which park on it; twice as many rows behind do not see it."""
    weights = torch.zeros(1, 14, 14)
    for row in range(14):
        seen = list(range(max(0, row - 4), row + 1))
        weights[0, row, seen] = 0.1
        if 1 in seen:
            weights[0, row, 1] = 0.6
    weights /= weights.sum(2, keepdim=True)
    assert parked_on(weights, torch.zeros(14, dtype=torch.bool), within=True).tolist() == [key == 1 for key in range(14)]


@given(arrays(np.float32, (3, 7, 7), elements=st.floats(0, 1, width=32)), arrays(np.bool_, (7,)), st.booleans())
def test_it_is_what_loops_over_rows_give(weights: np.ndarray, known: np.ndarray, within: bool) -> None:
    found = parked_on(torch.from_numpy(weights), torch.from_numpy(known), within)
    for key in range(7):
        heads = 0
        for head in weights:
            rows = [row for row in range(7) if head[row, key] > 0 and not (within and row == key)]
            yes = 0
            for row in rows:
                others = [other for other in range(7) if head[row, other] > 0 and not known[other]]
                left = float(np.float32(sum(head[row, other] for other in others)))
                bar = max(0.25, 2 / len(others)) * left if others else np.inf
                near = abs(float(head[row, key]) - bar) < 1e-5 * left
                yes += np.nan if near else not known[key] and float(head[row, key]) > bar
            heads += np.nan if np.isnan(yes) else len(rows) >= 4 and 2 * yes > len(rows)
        if not np.isnan(heads):
            assert bool(found[key]) == (2 * heads > 3)


def test_rows_that_see_nothing_but_sinks() -> None:
    assert rows_left([False] * 4, [True, True, False, True], causal=True) == [False, False, True, True]
    assert rows_left([True, False, False, True], [True, False, False, True], causal=False) == [False, True, True, False]
    assert rows_left([False] * 2, [True] * 2, causal=True) == [False] * 2
    assert rows_left([False] * 5, [True, False], causal=False) == [True] * 5, "rows of another text"


@given(arrays(np.float32, (3, 5), elements=st.floats(-1, 1, width=32)), arrays(np.bool_, (5,)))
def test_what_is_left_adds_up_to_1_or_to_nothing(scores: np.ndarray, sinks: np.ndarray) -> None:
    shares = renormalised(torch.from_numpy(scores), torch.from_numpy(sinks))
    sums, left = shares.abs().sum(1), np.abs(scores[:, ~sinks]).sum(1)
    assert sums[torch.from_numpy(left > 1e-6)].tolist() == pytest.approx([1.0] * int((left > 1e-6).sum()), rel=1e-4)
    assert not shares[:, torch.from_numpy(sinks)].any()


@pytest.fixture(scope="module")
def lens() -> headscope.Lens:
    return headscope.open(tiny("gpt2"), tiny_tokenizer("bpe"))


def test_a_reading_has_them_in_tokens_and_words(lens: headscope.Lens) -> None:
    reading = lens.read("the cat sat on the mat")
    assert reading.sinks() == TextSinks(reading.blocks.values()).by_group()["decoder self"]
    assert reading.sinks() == [True, *[False] * (len(reading.tokens) - 2), True]  # the last is </s>
    words = reading.to_words()
    assert words.sinks() == [True, *[False] * (len(words.tokens) - 2), True]


def test_they_come_out_of_a_stream(lens: headscope.Lens) -> None:
    """With weights that park on token 2 put into the model's blocks: layer by layer as all at once."""
    reading = lens.read("the cat sat on the mat and the dog")
    count, stream = len(reading.tokens), TextSinks()
    for layer, block in enumerate(reading.blocks.values()):
        block.weights[:] = causal(0.5, 0.3 if layer > 0 else 0.0, count=count)
        stream.add(block)
    assert [place for place, sink in enumerate(reading.sinks()) if sink] == [0, 2, count - 1]
    assert stream.by_group() == {"decoder self": reading.sinks()}
    strongest = reading.strongest()
    assert all(one.token is not None and one.places is not None and one.places[1] not in (0, 2) for one in strongest)


def test_strongest_renormalised_by_hand(lens: headscope.Lens) -> None:
    """Row 3 gives 0.8 to sinks and 0.15 of 0.2 to token 1; row 2 gives 0.4 and 0.24 of 0.6."""
    reading = lens.read("the cat sat on")
    count = len(reading.tokens)
    for block in reading.blocks.values():
        block.weights[:] = 0
        block.weights[..., 0] = 1
        block.weights[..., 2, :3] = torch.tensor([0.4, 0.24, 0.36])
        block.weights[..., 3, :4] = torch.tensor([0.8, 0.15, 0.03, 0.02])
    assert reading.sinks()[:4] == [True, False, False, False]
    plain, shares = reading.strongest()[0], reading.strongest(renormalise=True)[0]
    assert (plain.places, plain.score) == ((2, 2), pytest.approx(0.36))
    assert (shares.places, shares.score) == ((3, 1), pytest.approx(0.75))
    assert shares.share == pytest.approx((0.4 + 0.75) / 2)
    assert plain.sinks == shares.sinks == pytest.approx((1 + 0.4 + 0.8 + (count - 5)) / (count - 2), rel=1e-4)
    with pytest.raises(InputError, match="leave out renormalise=True"):
        reading.strongest(without_sinks=False, renormalise=True)
