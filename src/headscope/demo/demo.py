"""The demo from end to end: open the model, read the text once, draw the picture, write the report, say what was seen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TaskID

from headscope.demo import model
from headscope.demo.observation import Observation, observe
from headscope.demo.picture import draw, make_folder, save
from headscope.demo.summary import print_summary
from headscope.demo.text import TITLE
from headscope.report import write_report


def run(output: Path, as_json: bool = False) -> None:
    """Study the text in `output/run`, write `demo.png`, `demo.svg` and `report.html`; print a summary, or JSON."""
    make_folder(output)  # first, so that a folder that cannot be written costs nobody a minute
    observation = _observe_with_progress(output / "run")
    pictures = save(draw(observation), output)
    report = write_report(observation.run, out=output / "report.html", title=f"{model.NAME} reads “{TITLE}”")
    if as_json:
        files = {"pictures": [str(path) for path in pictures], "report": str(report)}
        print(json.dumps({**observation.to_json(), **files}, indent=2))
    else:
        print_summary(observation, pictures, report, Console(highlight=False))


def _observe_with_progress(run: Path) -> Observation:
    stderr = Console(stderr=True)
    with Progress(console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        bar = _Bar(progress, progress.add_task(f"Opening {model.NAME}", total=None))
        with model.open_model() as lens:
            return observe(lens, run, progress=bar)


@dataclass
class _Bar:
    """Shows the study's progress in the bar that began with opening the model."""

    progress: Progress
    task: TaskID

    def begin(self, documents: int, done: int) -> None:
        self.progress.update(self.task, description="Reading the text", completed=done, total=documents)

    def advance(self, documents: int) -> None:
        self.progress.advance(self.task, documents)
