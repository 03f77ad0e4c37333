"""Parameters in an einsum are layers while somebody looks on: the same bits, with hooks; XLNet's norms are its own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import headscope
from headscope.lens.block import AttentionBlock
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.contraction import Contraction, seen_by_hooks
from tests.architectures.tiny_models import build


@pytest.mark.parametrize(
    ("equation", "left", "right"), [("ibnd,hnd->ibh", (5, 2, 3, 4), (6, 3, 4)), ("ibh,hnd->ibnd", (5, 2, 6), (6, 3, 4))]
)
def test_a_product_is_the_layer_s_to_the_last_bit(equation: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    operand, parameter = torch.randn(left), nn.Parameter(torch.randn(right))
    layer, seen = Contraction(parameter, equation), []
    layer.register_forward_hook(lambda module, given, output: seen.append((given[0], output)))
    assert layer.is_layer
    expected = torch.einsum(equation, operand, parameter)
    with seen_by_hooks([layer]):
        made = torch.einsum(equation, operand, parameter)
    assert made.equal(expected)
    ((given, output),) = seen
    torch.testing.assert_close(given @ layer.weight.T, output)


@pytest.mark.parametrize("equation", ["ibnd,jbnd->bnij", "nd,ibnd->ibn", "ibnd,snd->ibns"])
def test_what_is_no_linear_layer_is_left_alone(equation: str) -> None:
    """Queries with keys; a bias of each head's; and a score for each head, which is a sum over a part of what it reads."""
    right = equation.partition(",")[2].partition("->")[0]
    assert not Contraction(nn.Parameter(torch.randn([3] * len(right))), equation).is_layer


@torch.no_grad()
def test_norms_of_xlnet_are_those_of_its_vectors() -> None:
    tiny = build("xlnet")
    blocks: list[AttentionBlock] = []
    with headscope.open(tiny.model) as lens:
        lens.run(Batch(tiny.inputs), blocks.append, rows=None)
        modules = [tiny.model.get_submodule(site.module) for site in lens.sites]
    assert [block.site.projection for block in blocks] == [f"{block.site.module}.o" for block in blocks]
    for block, module in zip(blocks, modules, strict=True):
        output: Tensor = module.o.permute(1, 2, 0)  # head d_head d_model
        vectors = torch.einsum("bhij,bhjd,hdm->bhijm", block.weights, block.values, output)
        norms = vectors.norm(dim=-1) * block.key_mask[:, None, None]
        torch.testing.assert_close(block.scores("norm"), norms, rtol=1e-5, atol=1e-5)
