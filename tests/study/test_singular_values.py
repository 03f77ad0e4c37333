"""Singular values of a head's f, against the whole (d + 1) x (d + 1) matrix, by hand, and for every kind of model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import headscope
from headscope.lens.block import AttentionBlock
from headscope.lens.tokens.batch import Batch
from headscope.study.singular_values import condition_numbers, singular_values, singular_values_of
from tests.architectures.tiny_models import build
from tests.tiny import FAMILIES, tiny


def whole(values: torch.Tensor, bias: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """f as one matrix on d + 1 dimensions (appendix C)."""
    rows, size = values.shape
    first = torch.zeros(rows + 1, size + 1, dtype=values.dtype)
    first[:rows, :size], first[rows, :size], first[rows, size] = values, bias, 1
    second = torch.zeros(size + 1, rows + 1, dtype=values.dtype)
    second[:size, :rows], second[size, rows] = output, 1
    return first @ second


def test_by_hand() -> None:
    """f(x) = 6 x on one of two dimensions, without bias: 6 for it, 1 for the constant, 0 for the other."""
    found = singular_values_of(torch.tensor([[2.0], [0.0]]), torch.zeros(1), torch.tensor([[3.0, 0.0]]))
    assert found.tolist() == pytest.approx([6, 1])


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_those_of_the_whole_matrix(family: str) -> None:
    with headscope.open(tiny(family)) as lens:
        table = singular_values(lens)
        assert len(table.groupby(["stack", "kind", "layer", "head"])) == sum(site.heads for site in lens.sites)
        for site in lens.sites:
            matrices = lens.matrices(site)
            assert matrices is not None
            for head in range(site.heads):
                matrix = whole(*(part[head] for part in matrices))
                of_whole = torch.linalg.svdvals(matrix.double())[: site.head_size + 1]
                here = table.query("stack == @site.stack and kind == @site.kind and layer == @site.layer and head == @head")
                np.testing.assert_allclose(here["value"], of_whole, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "llama", "gpt_neox", "bloom", "falcon", "albert", "t5", "mpt"])
def test_the_value_projection_makes_the_values(architecture: str) -> None:
    """x W_V + b_V is the model's own value vector, wherever a model keeps W_V: fused, interleaved, grouped."""
    small = build(architecture)
    with headscope.open(small.model) as lens:
        found: list[AttentionBlock] = []
        lens.run(Batch(small.inputs), found.append)
        for block in found:
            matrices, inputs = lens.matrices(block.site), block.key_side.inputs
            assert matrices is not None
            assert inputs is not None
            made = torch.einsum("bkm,hmd->bhkd", inputs, matrices.values) + matrices.biases[:, None]
            torch.testing.assert_close(made, block.values, rtol=1e-4, atol=1e-5)


def test_condition_numbers() -> None:
    with headscope.open(tiny("bert")) as lens:
        table = singular_values(lens)
    found = condition_numbers(table)
    one = table.query("layer == 1 and head == 2")["value"]
    row = found.query("layer == 1 and head == 2").iloc[0]
    assert row["condition"] == pytest.approx(one.max() / one.min())
    assert len(found) == 12
