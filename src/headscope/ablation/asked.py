"""What is to be taken away, and how; what cannot be is refused before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headscope.ablation import tables
from headscope.ablation.work import PLACES
from headscope.errors import InputError, no_such
from headscope.lens.without import HOW
from headscope.study.run import Run


@dataclass(frozen=True)
class Asked:
    """The settings of a run."""

    ways: tuple[str, ...]
    at: str
    sets: tuple[str, ...]
    layers: bool
    curve: str | None
    each: bool
    estimate: bool | None
    exact: int | None
    draws: int
    own_means: bool

    def __post_init__(self) -> None:
        wrong = [way for way in self.ways if way not in HOW]
        if wrong or not self.ways:
            raise InputError(f"Heads are replaced by {', '.join(HOW)}, not by {wrong[0] if wrong else 'nothing'!r}.")
        if self.at not in PLACES:
            raise InputError(f"Heads are taken away at {', '.join(PLACES)} tokens of a text, not at {self.at!r}.")
        if self.exact is not None and not self.estimate:
            raise InputError("exact= takes the largest of the estimates: give estimate=True (--estimate) too.")
        if not self.each and self.estimate:
            raise InputError("Estimates are of every head by itself: leave out each=False (--no-each), or estimate=True.")
        if not self.each and not (self.sets or self.layers or self.curve):
            raise InputError("Without every head by itself there is nothing to take away: give heads, layers or a curve.")

    def check_curve(self, ordering: Run | None, words: bool | None = None) -> None:
        """Whether the column that heads are ordered by is there, or will be; `words`: whether the model predicts any."""
        if self.curve is None:
            return
        column = self.curve.removeprefix("-")
        if ordering is not None:
            known = [statistic.name for statistic in ordering.head_statistics]
            if column not in known:
                raise no_such("column", column, known, str(ordering.folder))
            return
        if not self.each:
            raise InputError(
                f"A curve by {column} of this run needs every head by itself: leave out each=False (--no-each), or name "
                "another run that has the column with curve_run= (--curve-run)."
            )
        known = [f"{tables.NAME}.{name}" for name in tables.head_columns(self._effects(words), self._estimates(words))]
        if column not in known:
            raise no_such("column", column, known, "This run")

    def _effects(self, words: bool | None) -> list[str]:
        if self.estimate and not self.exact:
            return []
        by_words = {"loss": True, "kl": True, "states": False, "pooled": False}
        return [name for name, needed in by_words.items() if words is None or words == needed]

    def _estimates(self, words: bool | None) -> list[str]:
        if self.estimate is False or words is False:
            return []
        return ["loss_estimate", "kl_estimate"] if self.draws else ["loss_estimate"]

    def describe(self) -> dict[str, Any]:
        return {
            "how": list(self.ways), "at": self.at, "sets": list(self.sets), "layers": self.layers, "curve": self.curve,
            "each": self.each, "estimate": self.estimate, "exact": self.exact, "draws": self.draws,
            "own_means": self.own_means,
        }  # fmt: skip
