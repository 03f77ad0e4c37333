"""What a model does around an attention, found by following the data of the trace: W_V, the residual connection, the norms.

Three ways are known, and told apart by numbers: post-LN, LN(r + y); pre-LN, r + y, where r is what LN was read from; and
normalised before the sum, r + LN(y). y is what W_O returns. It may be scaled, r + c y; and where the feed-forward layer runs
beside the attention, its output m joins in the same sum, r + y + m, of which r + y is the attention's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from headscope.lens.watching.linear import bias_of, matrix_of
from headscope.lens.watching.normalisation import Normalisation, is_near, no_scale, recognise

NEAR = 16  # how many modules before the attention, and norms after it, its residual connection is looked for in


class Ran(NamedTuple):
    """A module that ran in the trace."""

    order: int
    module: nn.Module
    given: Tensor
    result: Tensor


@dataclass(frozen=True)
class ValueProjection:
    """The columns of a linear layer that make an attention's values: v = x W_V + b_V."""

    module: nn.Module
    columns: Tensor  # group d_head

    @property
    def matrices(self) -> Tensor:
        """W_V for every key-value head: (group, d_model, d_head), float32."""
        return matrix_of(self.module).detach().float()[:, self.columns].permute(1, 0, 2)

    @property
    def biases(self) -> Tensor:
        """b_V: (group, d_head), zero where the layer has none."""
        bias = bias_of(self.module)
        return torch.zeros(self.columns.shape) if bias is None else bias[self.columns]


@dataclass(frozen=True)
class ResidualConnection:
    """The attention's output y joins the residual stream: outer(r + inner(y)), either of which may be absent."""

    residual: nn.Module  # its input is r
    inner: Normalisation | None
    outer: Normalisation | None
    factor: float = 1.0  # of y, or of inner(y)
    beside: bool = False  # whether a feed-forward layer's output is added too

    @property
    def form(self) -> str:
        """How the sum is written: `LN(r + y)`, `r + y`, `r + LN(y)`, `r + c y` or `r + y + m`."""
        added = "y" if self.inner is None else "LN(y)"
        total = f"r + {added if self.factor == 1 else f'c {added}'}{' + m' if self.beside else ''}"
        return total if self.outer is None else f"LN({total})"

    def linear(self, vectors: Tensor) -> Tensor:
        """A part of y as it arrives, but for the scales: (..., d_model) -> (..., d_model)"""
        return self.outer_linear(self.factor * (vectors if self.inner is None else self.inner.linear(vectors)))

    def outer_linear(self, vectors: Tensor) -> Tensor:
        """A part of the sum as it arrives, but for the scale: (..., d_model) -> (..., d_model)"""
        return vectors if self.outer is None else self.outer.linear(vectors)

    def scales(self, residual: Tensor, output: Tensor) -> tuple[Tensor, Tensor]:
        """What the inner and the outer normalisation divide by, for r and y of (..., d_model): (..., 1) each."""
        inner = no_scale(output) if self.inner is None else self.inner.scale(output)
        added = output if self.inner is None else self.inner(output)
        total = residual + (added if self.factor == 1 else self.factor * added)
        return inner, no_scale(total) if self.outer is None else self.outer.scale(total)


def find_value_projection(values: Tensor, order: int, linear: Sequence[Ran], tolerance: float) -> ValueProjection | None:
    """The linear layer, and its columns, that values (1, group, key, d_head) are; None if they were changed."""
    _, groups, length, size = values.shape
    wanted = values[0].transpose(0, 1).reshape(length, groups * size).float()
    for ran in reversed([ran for ran in linear if ran.order < order]):
        made = ran.result.reshape(-1, ran.result.shape[-1]).float()
        if made.shape[0] == length and made.shape[1] >= wanted.shape[1]:
            columns = _matching_columns(wanted, made, tolerance)
            if columns is not None:
                return ValueProjection(ran.module, columns.view(groups, size))
    return None


def _matching_columns(wanted: Tensor, made: Tensor, tolerance: float) -> Tensor | None:
    """For each column of `wanted` the one of `made` that equals it: their products with one random vector tell."""
    key = torch.randn(len(wanted), generator=torch.Generator().manual_seed(0)).to(wanted)
    sums, order = torch.sort(key @ made)
    place = torch.searchsorted(sums, key @ wanted).clamp(1, len(sums) - 1)
    nearest = torch.where((sums[place] - key @ wanted).abs() < (sums[place - 1] - key @ wanted).abs(), place, place - 1)
    columns = order[nearest]
    return columns if is_near(made[:, columns], wanted, tolerance) else None


def find_residual_connection(
    output: Ran, order: int, linear: Sequence[Ran], norms: Sequence[Ran], tolerance: float
) -> ResidualConnection | None:
    """How the output of W_O joins the residual stream; None where it does so in a way that is not known here.

    `order` is when the attention ran. r must be the input of a norm (pre-LN) or of a linear layer (post-LN) before it.
    """
    y = _in_line(output.result)
    after, linear_after = (_next(ran, output.order, y.shape) for ran in (norms, linear))
    joined: list[tuple[Normalisation | None, Tensor]] = [(None, y)]
    for ran in after:
        if is_near(_in_line(ran.given), y, tolerance) and (norm := recognise(*ran[1:], tolerance)) is not None:
            joined.append((norm, _in_line(ran.result)))
    for total in sorted(after + linear_after, key=lambda ran: ran.order):
        for inner, added in joined:
            sums = _in_line(total.given)
            if (norm_of := _last_that_read(sums - added, sums, order, norms, tolerance)) is not None:
                return ResidualConnection(norm_of, inner, None)
            if (reader := _last_that_read(sums - added, sums, order, linear, tolerance)) is not None:
                outer = recognise(*total[1:], tolerance) if any(total is norm for norm in after) else None
                # Without a norm on either side of the sum, it is none of the three ways.
                return ResidualConnection(reader, inner, outer) if inner or outer else None
    beside = [_in_line(ran.result) for ran in linear if order - NEAR < ran.order]
    for total in after:
        for inner, added in joined:
            found = _scaled_or_beside(total, inner, added, beside, [ran for ran in norms if ran.order < order], tolerance)
            if found is not None:
                return found
    return None


def _scaled_or_beside(
    total: Ran, inner: Normalisation | None, added: Tensor, beside: list[Tensor], norms: list[Ran], tolerance: float
) -> ResidualConnection | None:
    """r + c y, or r + y + m, with m what a linear layer returned: r must be the input of a norm before the attention."""
    sums = _in_line(total.given)
    for norm in reversed(norms[-NEAR:]):
        if _in_line(norm.given).shape != sums.shape:
            continue
        rest = sums - _in_line(norm.given)
        factor = float((rest * added).sum() / added.square().sum().clamp(min=1e-30))
        if is_near(factor * added, rest, tolerance, sums) and not is_near(torch.zeros_like(rest), rest, tolerance, sums):
            return ResidualConnection(norm.module, inner, None, factor)
        if any(is_near(other, rest - added, tolerance, sums) for other in beside):
            return ResidualConnection(norm.module, inner, None, beside=True)
    return None


def _next(ran: Sequence[Ran], order: int, shape: torch.Size) -> list[Ran]:
    return [one for one in ran if one.order > order and _in_line(one.given).shape == shape][:NEAR]


def _in_line(vectors: Tensor) -> Tensor:
    """(token, d_model), however a model arranges its texts."""
    return vectors.float().reshape(-1, vectors.shape[-1])


def _last_that_read(vectors: Tensor, size: Tensor, order: int, ran: Sequence[Ran], tolerance: float) -> nn.Module | None:
    for one in reversed([one for one in ran if one.order < order][-NEAR:]):
        if is_near(_in_line(one.given), vectors, tolerance, size):
            return one.module
    return None
