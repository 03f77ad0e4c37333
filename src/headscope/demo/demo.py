"""The demo from end to end: a study of a text with a real model, its report, a picture, and what was found."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headscope.demo import model
from headscope.demo.picture import draw, save
from headscope.demo.text import NAME, TITLE, corpus_in
from headscope.lens import Lens
from headscope.lens.head import Head
from headscope.progress import Bar, Progress
from headscope.report.findings.findings import Finding, findings
from headscope.report.needed_tables import add_model_tables, report_statistics
from headscope.statistics import Offsets
from headscope.study import Run, study
from headscope.text import Corpus

SHOWN = 8  # findings; the report has the others


def run(output: Path, as_json: bool = False) -> None:
    """Study the text in `output/run`, write `report.html`, `demo.png` and `demo.svg`; print what was found, or JSON."""
    corpus = corpus_in(output)  # first, so that a folder that cannot be written costs nobody a minute
    with Bar(quiet=as_json) as bar, model.open_model() as lens:
        counted = count(lens, corpus, output / "run", bar.part("Reading the text"))
    report = counted.report(output / "report.html", title=f"{model.NAME} reads “{TITLE}”")
    pictures = save(draw(counted), output)
    found = findings(counted)
    if as_json:
        print(json.dumps(_as_json(counted, found, report, pictures), indent=2))
    else:
        _print(counted, found, report, pictures, Console(highlight=False))


def count(lens: Lens, corpus: Corpus, folder: Path, progress: Progress | None = None) -> Run:
    """All that a report shows; a run that is there and finished is not counted again."""
    counted = study(
        lens, corpus, report_statistics(lens), out=folder, batch_size=2, shard_size=2, truncate=True, progress=progress
    )
    add_model_tables(lens, counted, corpus)
    return counted


def _as_json(counted: Run, found: Sequence[Finding], report: Path, pictures: Sequence[Path]) -> dict[str, object]:
    return {
        "model": {"name": model.NAME, "source": counted.manifest["model"]["model"]},
        "text": {"title": TITLE, "file": NAME, **counted.manifest["counts"]},
        "findings": [one.as_json() for one in found],
        "run": str(counted.folder),
        "report": str(report),
        "pictures": [str(path) for path in pictures],
    }


def _print(counted: Run, found: Sequence[Finding], report: Path, pictures: Sequence[Path], console: Console) -> None:
    console.print(Text("\nWhat was found", style="bold").append("  (heads are layer.head, from 0)\n", style="not bold dim"))
    listed = Table.grid(padding=(0, 1))
    for finding in found[:SHOWN]:
        listed.add_row("  ·", Text(finding.text))
    console.print(listed)
    folder, source = _typed(str(counted.folder)), _typed(str(counted.manifest["model"]["model"]))
    lines = {"report": report, "picture": ", ".join(map(str, pictures)), "tables": f"headscope table {folder}"}
    console.print()
    for name, where in lines.items():
        console.print(Text(f"  {name:<9}", style="dim").append(str(where), style="bold"), soft_wrap=True)
    console.print("\n  The report shows what every head does: open it in a browser.\n  The same live, for texts of yours:\n")
    console.print(Text(f"    headscope serve --run {folder}"), soft_wrap=True)
    head = _previous_token_head(counted)
    console.print(
        Text("\nTry next", style="bold").append(f"  (head {head.label} on a sentence of yours)\n", style="not bold dim")
    )
    for line in (
        "from headscope.demo import open_model",
        'reading = open_model().read("The boy laughed, and the clock ran on.")',
        f'print(reading.tokens, reading.scores("norm")[{head.layer}, {head.head}])',
    ):
        console.print(Text(f"    {line}"), soft_wrap=True)
    console.print("\n  and the proof that this model, or yours, is read right:\n")
    console.print(Text(f"    headscope doctor {source}\n"), soft_wrap=True)


def _previous_token_head(counted: Run) -> Head:
    """The head that takes most from the token before."""
    table = counted[Offsets(measure="norm")]
    return Head.of(table.loc[table["previous"].idxmax()])


def _typed(source: str) -> str:
    """As one would type it in a shell here: a path below this folder without what comes before."""
    path, here = Path(source), Path.cwd()
    return shlex.quote(str(path.relative_to(here)) if path.is_relative_to(here) else source)
