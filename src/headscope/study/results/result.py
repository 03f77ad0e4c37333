"""Result: one table or figure of a paper, made anew for a model, with the paper's own numbers beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headscope.files import write_text
from headscope.later import Figure, pd
from headscope.study.results.latex import PACKAGES
from headscope.study.results.printing import latex, markdown
from headscope.study.tables import save_table


class Claim(NamedTuple):
    """A number in a paper's text, and what this run has in its place."""

    section: str
    claim: str
    paper: str
    run: str


@dataclass(frozen=True)
class Result:
    """`table` is whole, with layers and heads from 0; `shown` is what the paper prints, in its own convention."""

    name: str  # "clark2019_table1"
    title: str
    table: pd.DataFrame
    shown: pd.DataFrame | None = None
    figure: Figure | None = None
    notes: Sequence[str] = ()  # what a reader must know to compare
    of: Sequence[str] | None = None  # the studies whose texts it shows; those of its section, where that is not said
    models: str = ""  # whose numbers they are, where not of the run's own model alone

    @property
    def printed(self) -> pd.DataFrame:
        return self.table if self.shown is None else self.shown

    def save(self, folder: Path) -> None:
        """tables/NAME.parquet, .md and .tex; its figure is drawn by a workspace, where it is not there already."""
        save_table(folder, self.name, self.table)
        for ending, text in (("md", self.markdown()), ("tex", self.latex())):
            write_text(folder / "tables" / f"{self.name}.{ending}", text)

    def markdown(self) -> str:
        notes = [f"{note}\n" for note in self.notes]
        return "\n".join([f"## {self.title}\n", markdown(self.printed) + "\n", *notes])

    def latex(self) -> str:
        comments = [f"% {' '.join(line.split())}" for line in (self.title, *self.notes, PACKAGES)]
        return "\n".join([*comments, latex(self.printed), ""])


def paper_label(layer: int, head: int) -> str:
    """A head as clark2019 writes it: layer-head, both from 1.

    >>> paper_label(7, 9)
    '8-10'
    """
    return f"{layer + 1}-{head + 1}"


def in_percent(share: float) -> str:
    """A share as papers print it; nothing where there is none.

    >>> in_percent(0.868), in_percent(float("nan"))
    ('86.8', '')
    """
    return "" if share != share else f"{100 * share:.1f}"


def claims_result(name: str, claims: Sequence[Claim], model: str) -> Result:
    """The numbers in a paper's text beside this run's, as a table."""
    table = pd.DataFrame(claims, columns=list(Claim._fields))
    shown = table.rename(columns={"paper": f"paper ({model})", "run": "this run"})
    return Result(name, "Numbers in the text of the paper, and this run's", table, shown)
