"""`headscope read MODEL TEXT`: one text through one model, as a table on the terminal or as JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import options
from headscope.lens.site import attention_named
from headscope.measures import MEASURES, Measure

if TYPE_CHECKING:
    from headscope.lens.strongest import Strongest


def read(
    model: options.Model,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text, in quotes.")],
    pair: options.Pair = None,
    target: options.Target = None,
    measure: options.Measure = "weight",
    attention: options.Attention = "self",
    level: options.Level = "token",
    without_sinks: options.WithoutSinks = None,
    renormalise: options.Renormalise = False,
    truncate: options.Truncate = False,
    as_json: options.AsJson = False,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    device_map: options.DeviceMap = None,
    quantize: options.Quantize = None,
) -> None:
    """Read one text: what every head looks at most.

    Examples:

      headscope read bert-base-uncased "The keys to the cabinet are on the table."

      headscope read Helsinki-NLP/opus-mt-fr-en "Le chat dort." --target "The cat sleeps." --attention cross -m norm

      headscope read gpt2 "The keys are on the table." --level word --json
    """
    from headscope.lens import ModelSource

    stack, kind = attention_named(attention)
    MEASURES[measure]  # a name that there is none of is refused before a model is opened
    with ModelSource(
        model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize
    ).open() as lens:
        reading = lens.read(text, pair=pair, target=target, truncate=truncate)
        reading = reading.to_words() if level == "word" else reading
        heads = reading.strongest(measure, kind=kind, stack=stack, without_sinks=without_sinks, renormalise=renormalise)
        aside = renormalise or (reading.is_without_sinks(kind, stack) if without_sinks is None else without_sinks)
        sinks, keys = reading.sinks(kind, stack), reading.key_texts(kind, stack)
        if not as_json:
            said = _sinks_said([_named(keys, place) for place, sink in enumerate(sinks) if sink], aside)
            _print(heads, MEASURES[measure], said, [reading.query_texts(kind, stack), keys], renormalise)
            return
        found = {
            "measure": measure,
            "attention": attention,
            "query_tokens": reading.query_tokens(kind, stack),
            "key_tokens": reading.key_tokens(kind, stack),
            "query_texts": reading.query_texts(kind, stack),
            "key_texts": keys,
            "sinks": sinks,
            "without_sinks": aside,
            "renormalised": renormalise,
            "strongest": [_known(one) for one in heads],
            "scores": reading.scores(measure, kind=kind, stack=stack).tolist(),
        }
        typer.echo(json.dumps(found))


def _known(one: Strongest) -> dict[str, object]:
    return {name: None if isinstance(x, float) and math.isnan(x) else x for name, x in one._asdict().items()}


def _print(heads: list[Strongest], measure: Measure, sinks: str, sides: list[list[str]], renormalised: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(measure.about, style="dim"))
    console.print(Text(sinks, style="dim"))
    table = Table(box=None, header_style="bold")
    score = "of what is left" if renormalised else measure.name
    for name in ("head", "sinks", "looks most at", "share", "strongest link", score):
        table.add_column(name, justify="right" if name in ("sinks", "share", score) else "left")
    for one in heads:
        label = f"layer {one.layer}" if one.head is None else f"{one.layer}.{one.head}"
        token = "-" if one.place is None else _named(sides[1], one.place)
        link = token if one.places is None else " → ".join(map(_named, sides, one.places))
        numbers = [_number(one.sinks, ".2f"), _number(one.share, ".2f"), _number(one.score, ".3g")]
        table.add_row(label, numbers[0], Text(token), numbers[1], Text(link), numbers[2])
    console.print(table)


def _sinks_said(sinks: list[str], without: bool) -> str:
    """Which tokens are sinks here, and what is made of them."""
    if not sinks:
        return "No token of this text is a sink. (3): the place of a token that comes twice."
    which = f"sinks: the part that goes to {', '.join(sinks)}, which heads look at that have nothing to do."
    if without:
        rest = "The rest of the line is about what goes beyond them, and share is of that; --with-sinks counts them in."
    else:
        rest = "They are counted in; --without-sinks leaves them aside."
    return f"{which} {rest} (3): the place of a token that comes twice."


def _named(texts: list[str], place: int) -> str:
    """A token, with its place where the text has it more than once."""
    return texts[place] if texts.count(texts[place]) == 1 else f"{texts[place]} ({place})"


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"
