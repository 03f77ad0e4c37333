"""The demo's summary on the terminal: what was read, which heads stand out, and how weights and norms compare."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from torch import Tensor

from headscope.demo import model
from headscope.demo.counts import KINDS, Counts
from headscope.demo.findings import AGREE, disagreement, percent, strongest
from headscope.demo.observation import Observation
from headscope.demo.text import TITLE

_ROWS = {"previous token": "previous", "next token": "next", "[CLS]": "cls", "[SEP]": "sep"}
_COLUMNS = {"cls": "[CLS]", "sep": "[SEP]", "punctuation": ". and ,", "other": "other"}
_WEIGHT, _NORM = "magenta", "cyan"


def print_summary(observation: Observation, pictures: Sequence[Path], report: Path, console: Console) -> None:
    _print_what_was_read(observation, console)
    _print_title(console, "Heads that look most at ...", "layer.head, counted from 0, and its share")
    console.print(Padding(_strongest_heads(observation.counts), (0, 0, 1, 2), expand=False))
    _print_title(console, "Where the layers look", "weight: how much they look; norm: how much comes of it")
    console.print(Padding(_layers(observation.counts), (0, 0, 1, 2), expand=False))
    console.print(Padding(Text(disagreement(observation.counts)), (0, 2, 1, 2)))
    _print_what_next(observation, pictures, report, console)


def _print_what_was_read(observation: Observation, console: Console) -> None:
    layers, heads = observation.counts.entropy.shape
    facts = Table.grid(padding=(0, 2))
    facts.add_row(Text("model", style="dim"), f"{model.NAME}, {layers} layers of {heads} heads")
    facts.add_row(
        Text("text", style="dim"),
        f"{TITLE}: {observation.sentences} sentences, {observation.tokens:,} tokens, "
        f"in {observation.documents} pairs of paragraphs",
    )
    console.print(Padding(facts, (1, 2), expand=False))


def _strongest_heads(counts: Counts) -> Table:
    weight, norm = counts.shares("weight"), counts.shares("norm")
    table = _table("")
    table.add_column(" by weight", style=_WEIGHT)
    table.add_column(" by norm", style=_NORM)
    for name, target in _ROWS.items():
        table.add_row(Text(name), _listed(weight[target]), _listed(norm[target]))
    table.add_row("all, broadly", _listed(counts.breadth()), Text(" (entropy, share of the most)", style="dim"))
    return table


def _listed(shares: Tensor) -> str:
    return " ".join(f"{label:>4} {percent(share):>4}" for label, share in strongest(shares))


def _layers(counts: Counts) -> Table:
    weight, norm = counts.layer_shares("weight"), counts.layer_shares("norm")
    table = _table("layer")
    for kind in KINDS:
        table.add_column(Text(f"{_COLUMNS[kind]}\nweight"), justify="right", style=_WEIGHT)
        table.add_column(Text("\nnorm"), justify="right", style=_NORM)
    for layer in range(len(weight["cls"])):
        pairs = [(float(weight[kind][layer]), float(norm[kind][layer])) for kind in KINDS]
        table.add_row(str(layer), *[_cell(share, pair) for pair in pairs for share in pair])
    return table


def _cell(share: float, pair: tuple[float, float]) -> Text:
    """Shares on which weight and norm disagree stand out."""
    return Text(percent(share), style="bold" if abs(pair[0] - pair[1]) > AGREE else "")


def _print_what_next(observation: Observation, pictures: Sequence[Path], report: Path, console: Console) -> None:
    (label, _), *_ = strongest(observation.counts.shares("norm")["previous"])
    layer, head = label.split(".")
    console.print(Text("  report   ", style="dim").append(str(report), style="bold"), soft_wrap=True)
    console.print(Text("  picture  ", style="dim").append(", ".join(map(str, pictures)), style="bold"), soft_wrap=True)
    console.print(
        Text("  tables   ", style="dim").append(f"headscope table {observation.run}", style="bold"), soft_wrap=True
    )
    console.print(Text("\n  The report shows what every head does: open it in a browser."), soft_wrap=True)
    console.print(Text("  The same live, for texts of yours:\n"))
    console.print(Text(f"    headscope serve --run {_typed(str(observation.run))}"), soft_wrap=True)
    _print_title(console, "\nTry next", f"head {label} on a sentence of yours")
    for line in (
        "from headscope.demo import open_model",
        'reading = open_model().read("The boy laughed, and the clock ran on.")',
        f'print(reading.tokens, reading.scores("norm")[{layer}, {head}])',
    ):
        console.print(Text(f"    {line}"), soft_wrap=True)
    console.print(Text("\n  and the proof that this model, or yours, is read right:\n"))
    console.print(Text(f"    headscope doctor {_typed(observation.source)}\n"), soft_wrap=True)


def _typed(source: str) -> str:
    """As one would type it in a shell here: a path below this folder without what comes before."""
    path, here = Path(source), Path.cwd()
    return shlex.quote(str(path.relative_to(here)) if path.is_relative_to(here) else source)


def _table(first: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first)
    return table


def _print_title(console: Console, title: str, explained: str) -> None:
    console.print(Text(title, style="bold").append(f"  ({explained})", style="not bold dim"))
    console.print()
