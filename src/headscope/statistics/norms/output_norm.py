"""How long a vector each head adds, all that it collects together: y_h(i) = z_h(i) W_O^h, with z_h(i) = sum_j alpha_ij v_j.

Vectors that point apart cancel in y, which the sum of their norms does not know. ||y|| = ||z R_h||, R_h being a square root
of W_O^h W_O^h^T: no vector of the model's size. With m the mean of y over all rows and r_i what the model adds y(i) to,

    sum ||y - m||^2 / ||r||^2 = sum ||y||^2 / ||r||^2 - 2 <m, sum y / ||r||^2> + ||m||^2 sum 1 / ||r||^2,

so that what is centred on its mean follows from sums.
"""

from __future__ import annotations

import numpy as np

from headscope.errors import NormsUnavailable
from headscope.later import Tensor, nn, torch
from headscope.lens.block import AttentionBlock
from headscope.measures.projection import collected
from headscope.statistics.base import Array, Columns, Sums, ratio
from headscope.statistics.columns import LENGTH, RATIO, Column
from headscope.statistics.norms.norm_statistic import NormStatistic
from headscope.statistics.pending import wide
from headscope.statistics.registry import statistic

_PLAIN = ("rows", "read", "output", "squares")
_RELATIVE = ("relative_rows", "relative", "relative_squares", "inverse")


@statistic("output_norm")
class OutputNorm(NormStatistic):
    """Mean norm of what a head adds: before W_O, behind it, against what it is added to; and centred on its mean.

    `read` is ||z||, `output` ||y||, `relative` ||y|| / ||r||, with r the residual stream that y is added to. `centred` and
    `centred_relative` are the root mean squares of ||y - m|| and ||y - m|| / ||r||: what is lost where the head's mean takes
    its place. Not a number where W_O, or for the relative ones the residual connection, was not found.
    """

    sums = (*_PLAIN, *_RELATIVE)
    card_place = 115
    read = Column("Length of what W_O reads of it, z", LENGTH, "How long the mix of values is, on average.", "reads more")
    output = Column("Length of what it adds, y", LENGTH, "How long the vector is that it adds, on average.", "adds more")
    relative = Column(
        "Length of what it adds, against the residual stream",
        RATIO,
        "How long the vector is that it adds, as a part of what it is added to.",
        "adds more",
    )
    centred = Column(
        "Distance of what it adds from its mean", LENGTH, "How far what it adds is from its own mean.", "says more"
    )
    centred_relative = Column(
        "Distance of what it adds from its mean, against the residual stream",
        RATIO,
        "How far what it adds is from its own mean, as a part of what it is added to.",
        "says more",
    )

    def begin(self) -> None:
        size = max((site.head_size for site in self.heads.sites), default=0)
        self.state |= {name: np.zeros((self.heads.count, size)) for name in ("vector", "relative_vector")}

    def update(self, block: AttentionBlock) -> None:
        if not block.site.has_norms:
            return
        z, roots = block.cached(collected), block.key_side.projection.roots
        real = block.row_mask.to(z.dtype)[..., None]  # batch row 1
        output = torch.einsum("brhd,hdk->brhk", z, roots) * real[..., None]
        lengths = torch.linalg.vector_norm(output, dim=-1)  # batch row head
        self.add(
            block.site,
            rows=real.sum(),
            read=(torch.linalg.vector_norm(z, dim=-1) * real).sum((0, 1)),
            output=lengths.sum((0, 1)),
            squares=wide(lengths).square().sum((0, 1)),
            vector=self._wide(output.flatten(0, 1)),
        )
        try:
            stream = torch.linalg.vector_norm(block.joining.residual.float(), dim=-1)[..., None]
        except NormsUnavailable:
            return
        inverse = real / stream.where(stream > 0, 1) * (stream > 0)  # a row that adds to nothing has no ratio
        self.add(
            block.site,
            relative_rows=(inverse > 0).sum(),
            relative=(lengths * inverse).sum((0, 1)),
            relative_squares=wide(lengths * inverse).square().sum((0, 1)),
            inverse=wide(inverse).square().sum(),
            relative_vector=self._wide((output * inverse.square()[..., None]).flatten(0, 1)),
        )

    def _wide(self, vectors: Tensor) -> Tensor:
        """(row, head, rank) -> their sum, (head, dimension): as many dimensions as the largest head has."""
        total = wide(vectors).sum(0)
        return nn.functional.pad(total, (0, self._size - total.shape[-1]))

    @property
    def _size(self) -> int:
        return max(site.head_size for site in self.heads.sites)

    def columns(self, sums: Sums) -> Columns:
        mean = ratio(sums["vector"], sums["rows"][..., None])
        length = np.square(mean).sum(-1)
        squared = ratio(sums["squares"], sums["rows"]) - length
        relative: Array = sums["relative_squares"] - 2 * (mean * sums["relative_vector"]).sum(-1) + length * sums["inverse"]
        return {
            "read": ratio(sums["read"], sums["rows"]),
            "output": ratio(sums["output"], sums["rows"]),
            "relative": ratio(sums["relative"], sums["relative_rows"]),
            "centred": np.sqrt(np.maximum(squared, 0)),
            "centred_relative": np.sqrt(np.maximum(ratio(relative, sums["relative_rows"]), 0)),
        }
