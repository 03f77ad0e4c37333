"""`headscope read MODEL TEXT`: one text through one model, as a table on the terminal or as JSON."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headscope.cli import options
from headscope.lens import ModelSource
from headscope.lens.reading import Strongest
from headscope.lens.site import attention_named
from headscope.measures import MEASURES


def read(
    model: options.Model,
    text: Annotated[str, typer.Argument(help="The text, in quotes.")],
    pair: options.Pair = None,
    target: options.Target = None,
    measure: options.Measure = "weight",
    attention: options.Attention = "self",
    level: options.Level = "token",
    truncate: options.Truncate = False,
    as_json: options.AsJson = False,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
) -> None:
    """Read one text: what every head looks at most.

    [bold]Examples[/bold]

      headscope read bert-base-uncased "The keys to the cabinet are on the table."

      headscope read Helsinki-NLP/opus-mt-fr-en "Le chat dort." --target "The cat sleeps." --attention cross -m norm

      headscope read gpt2 "The keys are on the table." --level word --json
    """
    stack, kind = attention_named(attention)
    with ModelSource(model, device, dtype, revision, trust_remote_code).open() as lens:
        reading = lens.read(text, pair=pair, target=target, truncate=truncate)
        reading = reading.to_words() if level == "word" else reading
        if not as_json:
            _print(reading.strongest(measure, kind=kind, stack=stack), measure)
            return
        found = {
            "measure": measure,
            "attention": attention,
            "query_tokens": reading.query_tokens(kind, stack),
            "key_tokens": reading.key_tokens(kind, stack),
            "scores": reading.scores(measure, kind=kind, stack=stack).tolist(),
        }
        typer.echo(json.dumps(found))


def _print(heads: list[Strongest], measure: str) -> None:
    console = Console()
    console.print(Text(MEASURES[measure].about, style="dim"))
    table = Table(box=None, header_style="bold")
    for name in ("head", "looks most at", "share", "strongest link", measure):
        table.add_column(name, justify="right" if name in ("share", measure) else "left")
    for one in heads:
        label = f"layer {one.layer}" if one.head is None else f"{one.layer}.{one.head}"
        link = one.token if one.link is None else " → ".join(one.link)
        table.add_row(label, Text(one.token), f"{one.share:.2f}", Text(link), f"{one.score:.3g}")
    console.print(table)
