"""The mask made by rows is the mask that transformers makes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.masking_utils import causal_mask_function, eager_mask, sliding_window_causal_mask_function

import headscope
from headscope.lens.watching import masks, plain
from headscope.lens.watching.masks import RowMask, row_mask
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


def both(**arguments) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    return row_mask(**arguments), eager_mask(**arguments)


@given(
    length=st.integers(1, 12),
    window=st.one_of(st.none(), st.integers(1, 5)),
    padded=st.integers(0, 3),
    start=st.integers(0, 11),
    count=st.integers(1, 12),
    kept=st.booleans(),
)
def test_rows_equal_the_whole(length: int, window: int | None, padded: int, start: int, count: int, kept: bool) -> None:
    function = causal_mask_function if window is None else sliding_window_causal_mask_function(window)
    attention = torch.arange(length).expand(2, -1) < torch.tensor([[length], [max(1, length - padded)]])
    mask, whole = both(batch_size=2, q_length=length, kv_length=length, mask_function=function, attention_mask=attention)
    assert isinstance(mask, RowMask)
    start = min(start, length - 1)
    before = masks.KEPT_WHOLE
    masks.KEPT_WHOLE = before if kept else 0
    try:
        torch.testing.assert_close(mask.rows(start, min(start + count, length)), whole[:, :, start : start + count])
    finally:
        masks.KEPT_WHOLE = before


def test_model_code_sees_an_ordinary_mask() -> None:
    mask, whole = both(batch_size=1, q_length=4, kv_length=4)
    assert mask.shape == whole.shape
    assert mask.dtype == whole.dtype
    assert type(mask + 1) is torch.Tensor
    torch.testing.assert_close(mask + 1, whole + 1)
    torch.testing.assert_close(mask[:, :, :2], whole[:, :, :2])
    torch.testing.assert_close(torch.cat([mask, mask], dim=1), torch.cat([whole, whole], dim=1))
    assert torch.equal(mask == 0, whole == 0)


def test_full_attention_without_padding_needs_no_mask() -> None:
    arguments = {
        "batch_size": 1,
        "q_length": 4,
        "kv_length": 4,
        "mask_function": lambda b, h, q, k: q >= 0,
        "allow_is_bidirectional_skip": True,
    }
    mask, whole = both(**arguments)
    assert mask is None
    assert whole is None


def test_a_look_at_its_kind_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass over a long text asks every block whether its mask is one to be added: the whole would be made each time."""
    made: list[int] = []
    really = RowMask._make
    monkeypatch.setattr(
        RowMask, "_make", lambda mask, start, stop: (made.append(stop - start), really(mask, start, stop))[1]
    )
    monkeypatch.setattr(masks, "KEPT_WHOLE", 0)
    monkeypatch.setattr(plain, "small", lambda: 0)
    with headscope.open(tiny("llama"), tiny_tokenizer("bpe")) as lens:
        batch = lens.encoder.batch(["the cat sat on the mat , two dogs sat on the mat ."])
        made.clear()  # what the lens has looked at when it was opened
        lens.run(batch, lambda block: None, rows=3)
    assert made
    assert max(made) <= 3
