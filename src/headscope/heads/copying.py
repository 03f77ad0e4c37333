"""The copying scores of a run's model, from its weights alone: whether a head makes what it looks at more likely."""

from __future__ import annotations

from headscope.errors import ModelError
from headscope.lens.lens import Lens
from headscope.lens.task import task_of
from headscope.statistics.columns import RATIO, Column, declare
from headscope.study.run import Run
from headscope.writing.copying import copying_scores

NAME = "copying"  # of the table in a run directory
PARAMETERS = 2_000_000_000  # of a model for which this is counted without being asked for

COLUMNS = {
    "copying": Column(
        "Copying score",
        RATIO,
        "From the weights alone: 1 makes every token that it looks at more likely, -1 less; 0 neither.",
        "copies, below zero it suppresses",
    )
}
declare(NAME, COLUMNS, card_place=186)


def add_copying(lens: Lens, run: Run) -> None:
    """Keep the table in a run. Nothing is added for a model without words, or whose heads no linear layers make."""
    if task_of(lens) is None or lens.model.num_parameters() > PARAMETERS:
        return
    try:
        run.add(NAME, copying_scores(lens))
    except ModelError:
        return
