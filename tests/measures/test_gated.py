"""Norms behind gates equal (n, n, d) tensors made of what the model's own modules say, gate by gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import headscope
from headscope.errors import NormsUnavailable
from headscope.lens.block import AttentionBlock
from headscope.lens.tokens.batch import Batch
from headscope.measures.gated import by_head, gated_norms, last_seen, low_rank_norms
from headscope.statistics import CategoryWeights, Dispersion
from headscope.statistics.kit.sweeps import key_factor
from tests.architectures.tiny_models import TinyModel, build

Outputs = dict[str, Tensor]  # what the modules of one attention returned, by name


def of_queries(attention: nn.Module, seen: Outputs) -> Tensor:
    """Qwen3-Next: half of what q_proj makes of each head."""
    by_head = seen["q_proj"].unflatten(-1, (-1, 2 * attention.head_dim))
    return by_head.chunk(2, -1)[1].sigmoid()


def element_wise(attention: nn.Module, seen: Outputs) -> Tensor:
    return seen["gate_proj"].unflatten(-1, (-1, attention.head_dim)).sigmoid()


def one_a_head(attention: nn.Module, seen: Outputs) -> Tensor:
    gate = F.softplus(seen["g_proj"])
    heads = seen["z"].shape[-1] // attention.head_dim
    return (gate[..., None] if gate.shape[-1] == heads else gate.unflatten(-1, (heads, -1))).expand(
        *gate.shape[:-1], heads, attention.head_dim
    )


def of_a_norm(attention: nn.Module, seen: Outputs) -> Tensor:
    """BitNet: the scale of the norm, as it was, times its gain."""
    norm = attention.attn_sub_norm
    scale = (seen["o"].square().mean(-1, keepdim=True) + norm.variance_epsilon).rsqrt()
    return (scale * norm.weight).unflatten(-1, (-1, attention.head_dim))


GATES: dict[str, Callable[[nn.Module, Outputs], Tensor]] = {
    "qwen3_next": of_queries,
    "qwen3_5_text": of_queries,
    "qwen3_5": of_queries,
    "afmoe": element_wise,
    "laguna": one_a_head,
    "bitnet": of_a_norm,
}


def seen_in(tiny: TinyModel) -> list[Outputs]:
    """What the modules of each attention return in the model's own pass, without a lens; z is what o_proj reads."""
    found: list[Outputs] = []
    hooks = []
    for name, attention in tiny.model.named_modules():
        if hasattr(attention, "o_proj") and hasattr(attention, "v_proj") and "vision" not in name:
            here: Outputs = {}
            found.append(here)
            for part, module in attention.named_children():
                hooks.append(module.register_forward_hook(keep(here, part)))
    with torch.no_grad():
        tiny.model(**tiny.inputs, use_cache=False)
    for hook in hooks:
        hook.remove()
    return found


def keep(here: Outputs, name: str) -> Callable[..., None]:
    def hook(module: nn.Module, inputs: Any, output: Any) -> None:
        if name == "o_proj":
            here["z"] = inputs[0]
        if name == "attn_sub_norm":
            here["o"] = inputs[0]
        here[name] = output

    return hook


def read(tiny: TinyModel, rows: int | None = None) -> tuple[list[AttentionBlock], dict[headscope.Site, nn.Module]]:
    blocks: list[AttentionBlock] = []
    with headscope.open(tiny.model) as lens:
        lens.run(Batch(tiny.inputs), blocks.append, rows=rows)
        return blocks, {site: tiny.model.get_submodule(site.module) for site in lens.sites}


def vectors_of(block: AttentionBlock, attention: nn.Module, gates: Tensor) -> Tensor:
    """alpha_ij (g_i * v_j) W_O^h, one by one: (batch, head, row, key, d_model)."""
    output = attention.o_proj.weight.detach().T.unflatten(0, (block.site.heads, -1))
    return torch.einsum("bhij,bihd,bhjd,hdm->bhijm", block.weights, gates, block.values, output)


@pytest.mark.parametrize("model_type", GATES)
@torch.no_grad()
def test_norms_equal_full_tensors(model_type: str) -> None:
    tiny = build(model_type)
    blocks, modules = read(tiny)
    assert all(block.site.gated for block in blocks)
    own = [seen for seen in seen_in(tiny) if seen]
    assert len(own) == len(blocks) > 0
    for block, seen in zip(blocks, own, strict=True):
        attention = modules[block.site]
        gates = GATES[model_type](attention, seen)
        torch.testing.assert_close(block.gates, gates, rtol=1e-5, atol=1e-6)
        vectors = vectors_of(block, attention, gates)
        real = (block.row_mask[:, None, :, None] & block.key_mask[:, None, None]).float()
        of_heads, together = vectors.norm(dim=-1) * real, vectors.sum(1).norm(dim=-1)[:, None] * real
        largest = of_heads.max().item()
        torch.testing.assert_close(block.scores("norm"), of_heads, rtol=1e-5, atol=1e-5 * largest)
        torch.testing.assert_close(block.scores("joint_norm"), together, rtol=1e-5, atol=1e-5 * largest)
        whole = (vectors.sum((1, 3)) + (0 if attention.o_proj.bias is None else attention.o_proj.bias))[block.row_mask]
        torch.testing.assert_close(whole, seen["o_proj"][block.row_mask], rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_a_row_may_mix_a_head_s_dimensions() -> None:
    """NeoMME: o - s (o.u) u with u the direction of the row's own value, and then a gate."""
    tiny = build("neomme")
    blocks, modules = read(tiny)
    own = [seen for seen in seen_in(tiny) if seen]
    gates = [module for name, module in tiny.model.named_modules() if name.endswith("output_projection")]
    read_by: list[Outputs] = [{} for _ in gates]
    for gate, kept in zip(gates, read_by, strict=True):
        gate.gate_proj.register_forward_hook(keep(kept, "gate_proj"))
    tiny.model(**tiny.inputs, use_cache=False)
    assert own == []
    for block, kept in zip(blocks, read_by, strict=True):
        attention = modules[block.site]
        unit = F.normalize(block.values, dim=-1).transpose(1, 2)[:, :, :, None]  # batch row head 1 d_head
        vectors = torch.einsum("bhij,bhjd->bihjd", block.weights, block.values)
        scale = torch.tanh(attention.exclusive_self_attention.alpha).view(1, 1, -1, 1, 1)
        vectors = vectors - scale * (vectors * unit).sum(-1, keepdim=True) * unit
        vectors = vectors * kept["gate_proj"].unflatten(-1, (block.site.heads, -1)).sigmoid()[:, :, :, None]
        output = attention.output_projection.o_proj.weight.T.unflatten(0, (block.site.heads, -1))
        vectors = torch.einsum("bihjd,hdm->bhijm", vectors, output)
        real = (block.row_mask[:, None, :, None] & block.key_mask[:, None, None]).float()
        norms = vectors.norm(dim=-1) * real
        torch.testing.assert_close(block.scores("norm"), norms, rtol=1e-5, atol=1e-5)
        together = vectors.sum(1).norm(dim=-1)[:, None] * real
        torch.testing.assert_close(block.scores("joint_norm"), together, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("model_type", ["qwen3_next", "laguna", "bitnet", "axk2", "diffllama", "neomme"])
@pytest.mark.parametrize("measure", ["weight", "norm", "joint_norm", "value_norm", "effective"])
def test_rows_cut_anywhere_give_the_same(model_type: str, measure: str) -> None:
    tiny = build(model_type)
    whole, cut = read(tiny)[0], read(tiny, rows=3)[0]
    for block in whole:
        parts = [part.scores(measure) for part in cut if part.site == block.site]
        torch.testing.assert_close(torch.cat(parts, 2), block.scores(measure), rtol=1e-4, atol=1e-5)


def test_block_norm_follows_the_gate_to_the_residual_stream() -> None:
    tiny = build("qwen3_next")
    blocks, modules = read(tiny)
    seen = [seen for seen in seen_in(tiny) if seen]
    for block, own in zip(blocks, seen, strict=True):
        assert block.site.residual
        vectors = vectors_of(block, modules[block.site], of_queries(modules[block.site], own)).sum(1)
        for row in range(vectors.shape[1]):
            vectors[:, row, row] += block.joining.residual[:, row]
        real = block.row_mask[:, None, :, None] & block.key_mask[:, None, None]
        expected = vectors.norm(dim=-1)[:, None] * real
        torch.testing.assert_close(block.scores("block_norm") * real, expected, rtol=1e-5, atol=1e-5)


def test_effective_attention_changes_nothing_behind_the_gate() -> None:
    tiny = build("qwen3_next")
    for block in read(tiny)[0]:
        texts = block.key_mask[:, None, None]
        moved = torch.einsum("bhij,bhjd->bihd", (block.scores("effective") - block.weights) * texts, block.values)
        torch.testing.assert_close(moved * block.gates, torch.zeros_like(moved), rtol=0, atol=1e-4)


def test_value_norms_are_those_of_an_open_gate() -> None:
    for block in read(build("afmoe"))[0]:
        plain = (block.values @ block.key_side.projection.matrices).norm(dim=-1) * block.key_mask[:, None]
        torch.testing.assert_close(block.scores("value_norm")[:, :, 0], plain, rtol=1e-4, atol=1e-5)


def test_statistics_leave_out_what_a_gate_makes_senseless() -> None:
    blocks = read(build("qwen3_next"))[0]
    sites = [block.site for block in blocks]
    dispersion = Dispersion().start(sites)
    for block in blocks:
        dispersion.update(block)
        assert key_factor(block, "norm") is None, "it is not the weights times a number of the key"
    assert dispersion.table()["mean"].isna().all()


def test_a_pass_with_gradients_says_that_it_has_no_gates() -> None:
    tiny = build("qwen3_next")
    found: list[AttentionBlock] = []
    with headscope.open(tiny.model) as lens:
        lens.run_gradients(Batch(tiny.inputs), found.append)
    assert found[0].weights.isfinite().all()
    with pytest.raises(NormsUnavailable, match="gates"):
        found[0].scores("norm")


sizes = st.integers(1, 5)


@given(rows=sizes, keys=sizes, shared=st.integers(1, 3), size=st.sampled_from([1, 7, 32, 33, 70]), seed=st.integers(0, 99))
def test_the_closed_form_equals_the_vectors(rows: int, keys: int, shared: int, size: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    gates, values = torch.rand(2, rows, 2 * shared, size, generator=draw), torch.randn(2, 2, keys, size, generator=draw)
    output = torch.randn(2 * shared, size, 2 * size, generator=draw)
    vectors = torch.einsum("bihd,bhjd,hdm->bhijm", gates, values.repeat_interleave(shared, 1), output)
    expected = vectors.norm(dim=-1)
    found = gated_norms(gates, values, output @ output.mT)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5 * float(expected.max()))
    rank = max(1, size // 2)
    few = output[:, :, :rank]
    expected = torch.einsum("bihd,bhjd,hdm->bhijm", gates, values.repeat_interleave(shared, 1), few).norm(dim=-1)
    torch.testing.assert_close(low_rank_norms(gates, values, few), expected, rtol=1e-5, atol=1e-5 * float(expected.max()))


@given(length=st.integers(1, 90), seed=st.integers(0, 99))
def test_keys_that_no_row_sees_are_left_out_and_no_others(length: int, seed: int) -> None:
    """Behind a causal mask of texts that are padded on the left, by more rows than are taken together."""
    draw = torch.Generator().manual_seed(seed)
    gates, values = torch.rand(2, length, 2, 5, generator=draw), torch.randn(2, 1, length, 5, generator=draw)
    inner = torch.randn(2, 5, 5, generator=draw)
    weights = torch.rand(2, 2, length, length, generator=draw).tril()
    weights[1, :, :, : length // 2] = 0
    for norms, of in ((gated_norms, inner @ inner.mT), (low_rank_norms, inner)):
        whole, cut = norms(gates, values, of), norms(gates, values, of, last_seen(weights))
        torch.testing.assert_close(weights * cut, weights * whole, rtol=1e-4, atol=1e-5)
        assert length < 40 or bool((cut == 0).any()), "some are left out"


def test_by_hand() -> None:
    """One head of two dimensions: v = (3, 4), W_O = I. A gate (1, 0) leaves 3 of 5, (0.5, 0.5) leaves 2.5."""
    gates = torch.tensor([[[[1.0, 0.0]], [[0.5, 0.5]]]])
    norms = gated_norms(gates, torch.tensor([[[[3.0, 4.0]]]]), torch.eye(2)[None])
    assert norms.flatten().tolist() == [3.0, 2.5]
    assert by_head(gates) is None
    assert by_head(gates[:, 1:]) is not None


def test_category_weights_sum_the_norms_of_rows() -> None:
    blocks = read(build("qwen3_next"))[0]
    sites = [block.site for block in blocks]
    assert CategoryWeights().start(sites).has_norms().all()
    assert not CategoryWeights().start(sites).has_norms(of_keys=True).any()
