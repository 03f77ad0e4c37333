"""The inner products of all pairs of heads, each pair once: sums of matrix products that share no work between threads."""

from __future__ import annotations

from headscope.later import Tensor, torch

STRIP = 48  # heads that are multiplied with themselves and all later ones at a time: two heads meet once, in one order


class InnerProducts:
    """Weighted sums of the inner products of heads, as `rows` (piece, position, head) change between one and the next.

    The narrow side of a product is its last: Intel's library takes a third longer for the same product turned round.
    """

    def __init__(self, rows: Tensor) -> None:
        self._heads = rows.shape[-1]
        self._strips = []
        for first in range(0, self._heads, STRIP):
            later, strip = rows[:, :, first:].mT, rows[:, :, first : first + STRIP]
            self._strips.append((first, later, strip, rows.new_zeros(len(rows), later.shape[1], strip.shape[2])))

    def add(self, weight: float) -> None:
        """The products of the rows as they are now."""
        for _, later, strip, products in self._strips:
            products.baddbmm_(later, strip, alpha=weight)

    def matrix(self) -> Tensor:
        """The sums so far: (head, head), float64."""
        found = torch.empty(self._heads, self._heads, dtype=torch.float64, device=self._strips[0][1].device)
        for first, _, _, products in self._strips:
            summed = products.sum(0, dtype=torch.float64)
            found[first:, first : first + STRIP] = summed
            found[first : first + STRIP, first:] = summed.T
        return found
