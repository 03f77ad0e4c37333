"""Effective attention (Brunner et al. 2020; kobayashi2020, appendix G): the weights less what cannot reach the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.later import Tensor, torch
from headscope.lens.measure import measure
from headscope.measures.gated import check_nothing_is_lost

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock, KeySide


def column_basis(transformed: Tensor) -> Tensor:
    """An orthonormal basis Q of the columns of T (..., key, d), zero-padded to min(key, d) vectors.

    Directions below the usual numerical rank threshold count as null space.
    """
    left, singular, _ = torch.linalg.svd(transformed, full_matrices=False)
    smallest = singular[..., :1] * max(transformed.shape[-2:]) * torch.finfo(transformed.dtype).eps
    return left * (singular > smallest)[..., None, :]


def effective_weights(weights: Tensor, basis: Tensor) -> Tensor:
    """A Q Q^T: the weights less their part in the left null space of T."""
    return (weights @ basis) @ basis.mT


def column_basis_of(keys: KeySide) -> Tensor:
    # T up to a rotation of the model's dimensions; behind gates, which each row has of its own, the values span the same.
    transformed = keys.values if keys.site.gated else keys.values @ keys.projection.roots
    if keys.mask is not None:
        transformed = transformed * keys.mask[:, None, :, None]
    return column_basis(transformed)


@measure("effective", signed=True)
def effective(block: AttentionBlock) -> Tensor:
    """A less its part in the null space of the values; rows need not sum to 1 and may be negative."""
    if block.gates is not None:
        check_nothing_is_lost(block)
    return effective_weights(block.weights, block.key_side.cached(column_basis_of))
