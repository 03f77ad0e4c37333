"""The base of statistics that read weights and norms side by side (kobayashi2020, section 4): no measure to choose."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.statistics.base import Array, Statistic
from headscope.statistics.kit.categories import category_names, parse_categories


@dataclass
class NormStatistic(Statistic):
    """A statistic whose columns say what they are of. Where a site has no W_O, what needs a norm is not a number."""

    usual = False
    levels = ("token",)
    measures: ClassVar[tuple[str, ...]] = ("weight",)  # the heads one by one

    def has_norms(self, of_keys: bool = False) -> NDArray[np.bool_]:
        """(head,): True where the head's site has norms; with `of_keys`, such as are the same in every row."""
        found = np.zeros(self.heads.count, dtype=bool)
        for site in self.heads.sites:
            found[self.heads.where(site)] = site.has_value_norms if of_keys else site.has_norms
        return found


@dataclass
class ByCategory(NormStatistic):
    """A statistic that tells token categories apart; `categories` adds some of one's own."""

    categories: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.categories = parse_categories(self.categories)

    @property
    def names(self) -> tuple[str, ...]:
        return category_names(self.categories)


def population_deviation(count: Array, total: Array, squares: Array) -> Array:
    """sqrt(E x^2 - (E x)^2) from sums of n, x and x^2 in float64; not a number where n is 0.

    >>> population_deviation(np.array([2.0]), np.array([4.0]), np.array([10.0]))
    array([1.])
    """
    some = np.where(count > 0, count, np.nan)
    mean = total / some
    deviation: Array = np.sqrt(np.maximum(squares / some - mean * mean, 0.0))
    return deviation
