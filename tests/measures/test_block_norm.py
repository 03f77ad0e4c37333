"""Each token's part of an attention block's output, against explicit (n, n, d) vectors and the model's own output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import headscope
from headscope.errors import NormsUnavailable
from headscope.lens import Lens
from headscope.lens.block import AttentionBlock
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.normalisation import Normalisation, recognise
from headscope.measures.block_norm import parts_of
from headscope.statistics import Mixing
from headscope.statistics.norms.mixing import mixing_ratios
from tests.architectures.tiny_models import build
from tests.tiny import tiny, tiny_inputs

# Where the block's output can be seen: (stack, kind) -> the module that has it, as its output or its input.
SEEN = {
    "bert": {("encoder", "self"): ("attention.output.LayerNorm", "output")},
    "gpt2": {("decoder", "self"): ("ln_2", "input")},
    "llama": {("decoder", "self"): ("post_attention_layernorm", "input")},
    "olmo2": {("decoder", "self"): ("mlp", "input")},
    "opt": {("decoder", "self"): ("final_layer_norm", "input")},
    "gemma2": {("decoder", "self"): ("pre_feedforward_layernorm", "input")},
    "marian": {
        ("encoder", "self"): ("self_attn_layer_norm", "output"),
        ("decoder", "self"): ("self_attn_layer_norm", "output"),
        ("decoder", "cross"): ("encoder_attn_layer_norm", "output"),
    },
    "t5": {("encoder", "self"): ("layer.1.layer_norm", "input")},
}


def model_of(family: str) -> nn.Module:
    return build(family).model if family in ("gemma2", "olmo2", "opt", "t5") else tiny(family)


def explicit(block: AttentionBlock) -> Tensor:
    """Every token's vector, one by one: (batch, row, key, d_model). In cross attention the residual is no key's."""
    joining = block.joining
    around, projection = joining.surroundings, block.key_side.projection
    vectors = torch.einsum("bhik,bhkd,hdm->bikm", block.weights, block.values, projection.matrices)
    bias = getattr(projection.module, "bias", None)
    output = vectors.sum(2) + (0 if bias is None else bias)
    if around.inner is not None:
        vectors = by_hand(around.inner, vectors, output)
        output = around.inner.module(output)
    vectors = around.factor * vectors
    if block.site.kind == "self":
        for row in range(len(block.rows)):
            vectors[:, row, block.rows.start + row] += joining.residual[:, row]
    if around.outer is not None:
        vectors = by_hand(around.outer, vectors, joining.residual + output)
    return vectors


def by_hand(norm: Normalisation, parts: Tensor, whole: Tensor) -> Tensor:
    """Layer normalisation of the parts of a sum: (batch, row, key, d_model) and (batch, row, d_model)."""
    if norm.centred:
        parts = parts - parts.mean(-1, keepdim=True)
        whole = whole - whole.mean(-1, keepdim=True)
    return parts / (whole.square().mean(-1) + norm.epsilon).sqrt()[..., None, None] * norm.gain


def blocks(family: str, rows: int | None = None) -> tuple[list[AttentionBlock], dict[Site, Tensor]]:
    """The blocks of a padded batch, and for each site the output of its attention block in the model's own pass."""
    model = model_of(family)
    with headscope.open(model) as lens:
        return run_watched(lens, Batch(tiny_inputs(model)), family, rows)


def run_watched(
    lens: Lens, batch: Batch, family: str, rows: int | None = None
) -> tuple[list[AttentionBlock], dict[Site, Tensor]]:
    found: list[AttentionBlock] = []
    seen: dict[Site, Tensor] = {}
    hooks = []
    for site in lens.sites:
        if (site.stack, site.kind) in SEEN[family]:
            name, side = SEEN[family][site.stack, site.kind]
            hooks.append(layer_part(lens.model, site, name).register_forward_hook(keep(seen, site, side)))
    lens.run(batch, found.append, rows=rows)
    for hook in hooks:
        hook.remove()
    return [block for block in found if block.site in seen], seen


def layer_part(model: nn.Module, site: Site, name: str) -> nn.Module:
    """The module `name` of the layer that a site is in."""
    parts = site.module.split(".")
    layer = max(place for place, part in enumerate(parts[:-1]) if part.isdigit())
    if name.startswith("layer."):  # T5 counts parts of a layer too
        layer = next(place for place, part in enumerate(parts) if part.isdigit())
    return model.get_submodule(".".join(parts[: layer + 1]) + "." + name)


def keep(seen: dict[Site, Tensor], site: Site, side: str) -> Callable[..., None]:
    def hook(module: nn.Module, given: Any, output: Tensor) -> None:
        seen[site] = (output if side == "output" else given[0]).detach().clone()

    return hook


@pytest.mark.parametrize("family", sorted(SEEN))
def test_the_tokens_vectors_sum_to_the_models_own_output(family: str) -> None:
    found, seen = blocks(family)
    assert {block.site for block in found} == set(seen)
    for block in found:
        total = explicit(block).sum(2) + belongs_to_no_token(block)
        mask = block.row_mask[..., None]
        torch.testing.assert_close(total * mask, seen[block.site].view_as(total) * mask, rtol=1e-4, atol=1e-4)


def belongs_to_no_token(block: AttentionBlock) -> Tensor:
    """The biases, as they arrive in the block's output; in cross attention the residual stream too."""
    joining, parts = block.joining, parts_of(block)
    around = joining.surroundings
    bias = getattr(block.key_side.projection.module, "bias", None)
    bias = torch.zeros(joining.residual.shape[-1]) if bias is None else bias.detach()
    rest = around.linear(bias) / (parts.inner_scale * parts.outer_scale)
    if around.inner is not None:
        rest = rest + around.outer_linear(torch.zeros_like(bias) + around.inner.bias) / parts.outer_scale
    if around.outer is not None:
        rest = rest + around.outer.bias
    if block.site.kind == "cross":
        rest = rest + around.outer_linear(joining.residual) / parts.outer_scale
    return rest


@pytest.mark.parametrize("family", sorted(SEEN))
def test_norms_and_mixing_equal_the_explicit_vectors(family: str) -> None:
    for block in blocks(family)[0]:
        vectors = explicit(block)
        real = block.row_mask[:, None, :, None] & block.key_mask[:, None, None, :]
        textbook_norms = vectors.norm(dim=-1)[:, None] * real
        torch.testing.assert_close(block.scores("block_norm") * real, textbook_norms, rtol=1e-5, atol=1e-5)
        assert not (block.scores("block_norm") * ~real).any()
        parts, around = parts_of(block), block.joining.surroundings
        rows = block.row_mask
        own = (around.outer_linear(parts.own) / parts.outer_scale)[rows]
        context = (around.outer_linear(parts.context) / parts.outer_scale)[rows]
        if block.site.kind == "self":
            textbook_own = vectors.diagonal(dim1=1, dim2=2).mT[rows]
            torch.testing.assert_close(own, textbook_own, rtol=1e-4, atol=1e-5)
            textbook = mixing_ratios((vectors.sum(2)[rows] - textbook_own).norm(dim=-1), textbook_own.norm(dim=-1))
            torch.testing.assert_close(mixing_ratios(context.norm(dim=-1), own.norm(dim=-1)), textbook, rtol=1e-4, atol=1e-5)
            mixing = Mixing().start([block.site])
            mixing.update(block)
            assert mixing.table()["mixing"][0] == pytest.approx(textbook.mean().item(), rel=1e-4)
        else:
            torch.testing.assert_close(context, vectors.sum(2)[rows], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
def test_rows_cut_anywhere_give_the_same(family: str) -> None:
    whole, _ = blocks(family)
    cut, _ = blocks(family, rows=2)
    for block in whole:
        parts = [part.scores("block_norm") for part in cut if part.site == block.site]
        torch.testing.assert_close(torch.cat(parts, 2), block.scores("block_norm"), rtol=1e-5, atol=1e-6)
    one, other = (Mixing().start([block.site for block in whole]) for _ in range(2))
    for block in whole:
        one.update(block)
    for block in cut:
        other.update(block)
    torch.testing.assert_close(torch.tensor(one.table()["mixing"]), torch.tensor(other.table()["mixing"]))


@pytest.mark.parametrize("family", ["gptj", "gpt_neox", "falcon", "phi", "cohere", "codegen"])
def test_a_parallel_layer_s_block_is_all_but_the_feed_forward_layer(family: str) -> None:
    tiny_model = build(family)
    beside: dict[str, Tensor] = {}
    layers: dict[str, Tensor] = {}
    with headscope.open(tiny_model.model) as lens:
        found: list[AttentionBlock] = []
        hooks = []
        for site in lens.sites:
            name = ".".join(site.module.split(".")[:-1])
            layer = lens.model.get_submodule(name)
            hooks.append(layer.register_forward_hook(keep_in(layers, name)))
            hooks.append(layer.mlp.register_forward_hook(keep_in(beside, name)))
        lens.run(Batch(tiny_model.inputs), found.append, rows=None)
        for hook in hooks:
            hook.remove()
    for block in found:
        assert block.site.residual
        name = ".".join(block.site.module.split(".")[:-1])
        whole = explicit(block).sum(2) + belongs_to_no_token(block) + beside[name]
        mask = block.row_mask[..., None]
        torch.testing.assert_close(whole * mask, layers[name] * mask, rtol=1e-4, atol=1e-4)
        real = block.row_mask[:, None, :, None] & block.key_mask[:, None, None]
        norms = explicit(block).norm(dim=-1)[:, None] * real
        torch.testing.assert_close(block.scores("block_norm") * real, norms, rtol=1e-5, atol=1e-5)


def keep_in(seen: dict[str, Tensor], name: str) -> Callable[..., None]:
    def hook(module: nn.Module, given: Any, output: Any) -> None:
        seen[name] = (output if isinstance(output, Tensor) else output[0]).detach().clone()

    return hook


def test_a_scaled_sum_is_found_with_its_factor() -> None:
    model = build("minicpm3").model
    with headscope.open(model) as lens:
        factors = [traced.connection.factor for traced in lens.trace.sites]
        found: list[AttentionBlock] = []
        lens.run(Batch(tiny_inputs(model)), found.append, rows=None)
    config = model.config
    assert factors == pytest.approx([config.scale_depth / config.num_hidden_layers**0.5] * len(factors), rel=1e-4)
    for block in found:
        real = block.row_mask[:, None, :, None] & block.key_mask[:, None, None]
        norms = explicit(block).norm(dim=-1)[:, None] * real
        torch.testing.assert_close(block.scores("block_norm") * real, norms, rtol=1e-4, atol=1e-5)


def test_where_it_was_not_found_what_the_output_is_added_to_there_is_no_such_block() -> None:
    model = build("zamba").model
    with headscope.open(model) as lens:
        assert not any(site.residual for site in lens.sites)
        found: list[AttentionBlock] = []
        lens.run(Batch(tiny_inputs(model)), found.append)
        with pytest.raises(NormsUnavailable, match="residual"):
            found[0].scores("block_norm")
        mixing = Mixing().start(lens.sites)
        mixing.update(found[0])
        assert mixing.table()["mixing"].isna().all()


@pytest.mark.parametrize("centred", [True, False])
def test_a_normalisation_is_recognised_by_its_numbers(centred: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    given = torch.randn(2, 3, 8, generator=generator)
    module = nn.LayerNorm(8) if centred else nn.RMSNorm(8, eps=1e-6)
    nn.init.normal_(module.weight, generator=generator)
    found = recognise(module, given, module(given), 1e-4)
    assert found is not None
    assert (found.centred, found.added) == (centred, 0)
    torch.testing.assert_close(found(given), module(given))
    assert recognise(module, given, given.exp(), 1e-4) is None
