"""What plain.py computes is what the models' own eager functions compute, and it is taken for no other function."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.masking_utils import causal_mask_function, sliding_window_causal_mask_function
from transformers.models.bert import modeling_bert
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.llama import modeling_llama
from transformers.models.marian import modeling_marian
from transformers.models.t5 import modeling_t5

from headscope.lens.watching import plain
from headscope.lens.watching.interface import AttentionCall
from headscope.lens.watching.masks import row_mask


@pytest.mark.parametrize("model", [modeling_bert, modeling_gpt2, modeling_llama, modeling_marian])
def test_plain_functions_are_known_by_their_source(model: object) -> None:
    assert plain.is_plain(model.eager_attention_forward)


@pytest.mark.parametrize("model", [modeling_gemma2, modeling_gpt_oss, modeling_t5])
def test_soft_caps_sinks_and_biases_are_the_models_business(model: object) -> None:
    assert not plain.is_plain(model.eager_attention_forward)


def test_a_changed_function_is_not_plain() -> None:
    def changed(module, query, key, value, attention_mask, scaling, dropout=0.0, **kwargs):
        weights = torch.softmax(torch.matmul(query, key.transpose(2, 3)) * scaling + 0.1 * attention_mask, -1)
        return torch.matmul(weights, value).transpose(1, 2), weights

    assert not plain.is_plain(changed)
    assert not plain.is_plain(len)
    assert not plain.is_plain(exec_defined())


def exec_defined() -> object:
    """A function without a source file."""
    names: dict[str, object] = {"torch": torch, "nn": torch.nn}
    exec("def eager_attention_forward(module, query): pass", names)
    return names["eager_attention_forward"]


@given(
    batch=st.integers(1, 3),
    length=st.integers(1, 13),
    groups=st.integers(1, 2),
    repeated=st.integers(1, 3),
    window=st.one_of(st.none(), st.integers(1, 5)),
    padded=st.integers(0, 4),
    left=st.booleans(),
    piece=st.sampled_from([1, 50, 400_000]),
    cut=st.integers(1, 13),
)
def test_as_the_models_own_function(
    batch: int, length: int, groups: int, repeated: int, window: int | None, padded: int, left: bool, piece: int, cut: int
) -> None:
    torch.manual_seed(length)
    query = torch.randn(batch, length, groups * repeated, 4).transpose(1, 2)
    key, value = (torch.randn(batch, length, groups, 4).transpose(1, 2) for _ in "kv")
    function = causal_mask_function if window is None else sliding_window_causal_mask_function(window)
    real = torch.ones(batch, length, dtype=torch.bool)
    if padded and padded < length:
        real[-1, slice(None, padded) if left else slice(length - padded, None)] = False
    mask = row_mask(batch, length, length, mask_function=function, attention_mask=real)
    module = SimpleNamespace(training=False, num_key_value_groups=repeated)
    output, weights = modeling_llama.eager_attention_forward(module, query, key, value, mask.whole(), 0.3)
    call = Call(module, query, key, value, mask, {"scaling": 0.3})
    before, plain.PIECE, plain.small = (plain.PIECE, plain.small), piece, lambda: 0
    try:
        with torch.no_grad():
            assert call._is_plain()
            parts = [call.rows(start, min(start + cut, length)) for start in range(0, length, cut)]
    finally:
        plain.PIECE, plain.small = before
    torch.testing.assert_close(torch.cat([part[0] for part in parts], 1), output)
    torch.testing.assert_close(torch.cat([part[1] for part in parts], 2), weights)


class Call(AttentionCall):
    """A call of a Llama's attention."""

    def __init__(self, module, query, key, value, mask, options) -> None:
        self.module, self.dtype, self.mask, self.options = module, query.dtype, mask, options
        self.query, self.key, self.value = query, key, value
        self.own = modeling_llama.eager_attention_forward
