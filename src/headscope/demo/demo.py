"""The demo from end to end: open the model, read the text once, draw the picture, write the report, say what was seen."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from headscope.demo import model
from headscope.demo.observation import observe
from headscope.demo.picture import draw, make_folder, save
from headscope.demo.summary import print_summary
from headscope.demo.text import TITLE
from headscope.progress import Bar
from headscope.report import write_report


def run(output: Path, as_json: bool = False) -> None:
    """Study the text in `output/run`, write `demo.png`, `demo.svg` and `report.html`; print a summary, or JSON."""
    make_folder(output)  # first, so that a folder that cannot be written costs nobody a minute
    with model.open_model() as lens, Bar(quiet=as_json) as bar:
        observation = observe(lens, output / "run", progress=bar.part("Reading the text"))
    pictures = save(draw(observation), output)
    report = write_report(observation.run, out=output / "report.html", title=f"{model.NAME} reads “{TITLE}”")
    if as_json:
        files = {"pictures": [str(path) for path in pictures], "report": str(report)}
        print(json.dumps({**observation.to_json(), **files}, indent=2))
    else:
        print_summary(observation, pictures, report, Console(highlight=False))
