"""`headscope read MODEL TEXT`: one text through one model, as a table on the terminal or as JSON."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headscope.lens import open as open_lens
from headscope.lens.reading import Reading
from headscope.measures import MEASURES


def read(
    model: Annotated[str, typer.Argument(help="A hub id, a folder with a saved model, or a GGUF file.")],
    text: Annotated[str, typer.Argument(help="The text, in quotes.")],
    pair: Annotated[str | None, typer.Option(help="A second text, for models that read sentence pairs.")] = None,
    target: Annotated[str | None, typer.Option(help="A translation, for encoder-decoders.")] = None,
    measure: Annotated[str, typer.Option(help=f"One of {', '.join(sorted(MEASURES))}.")] = "weight",
    kind: Annotated[str, typer.Option(help="self or cross attention.")] = "self",
    words: Annotated[bool, typer.Option("--words", help="Merge the tokenizer's pieces to words.")] = False,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut the text off at the model's limit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all scores as JSON.")] = False,
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that comes with the model. Read it first.")] = False,
) -> None:
    """Read one text: what every head looks at most.

    [bold]Examples[/bold]

      headscope read bert-base-uncased "The keys to the cabinet are on the table."

      headscope read Helsinki-NLP/opus-mt-fr-en "Le chat dort." --target "The cat sleeps." --kind cross --measure norm

      headscope read gpt2 "The keys are on the table." --words --json
    """
    with open_lens(model, trust_remote_code=trust_remote_code) as lens:
        reading = lens.read(text, pair=pair, target=target, truncate=truncate)
        reading = reading.to_words() if words else reading
        if as_json:
            typer.echo(json.dumps(_as_json(reading, measure, kind)))
        else:
            _print(reading, measure, kind)


def _as_json(reading: Reading, measure: str, kind: str) -> dict[str, object]:
    return {
        "measure": measure,
        "kind": kind,
        "query_tokens": reading.query_tokens(kind),
        "key_tokens": reading.key_tokens(kind),
        "scores": reading.scores(measure, kind=kind).tolist(),
    }


def _print(reading: Reading, measure: str, kind: str) -> None:
    """For every head, the token that gets the largest share and the strongest single link."""
    scores = reading.scores(measure, kind=kind)  # layer head (query) key
    keys, queries = reading.key_tokens(kind), reading.query_tokens(kind)
    console = Console()
    console.print(Text(MEASURES[measure].about, style="dim"))
    table = Table(box=None, header_style="bold")
    for name in ("head", "looks most at", "share", "strongest link", measure):
        table.add_column(name, justify="right" if name in ("share", measure) else "left")
    for layer in range(scores.shape[0]):
        for head in range(scores.shape[1]):
            here = scores[layer, head]
            total = here.sum(0) if here.dim() == 2 else here
            most = int(total.argmax())
            share = float(total[most] / total.sum())
            row, key = divmod(int(here.argmax()), len(keys))
            link = f"{queries[row]} → {keys[key]}" if here.dim() == 2 else keys[key]
            label = f"{layer}.{head}" if scores.shape[1] > 1 else f"layer {layer}"
            table.add_row(label, Text(keys[most]), f"{share:.2f}", Text(link), f"{float(here.max()):.3g}")
    console.print(table)
