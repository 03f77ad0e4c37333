"""`headscope similarity MODEL A B`: each token's and each head's part in how alike two texts are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from headscope.cli import options

if TYPE_CHECKING:
    from headscope.writing.parts import Parts
    from headscope.writing.similarity import Similarity


def similarity(
    model: options.Model,
    one: Annotated[str, typer.Argument(metavar="A", help="A text, in quotes.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another text.")],
    pooling: Annotated[
        Literal["mean", "cls"] | None,
        typer.Option(help="A text's vector: the mean of its tokens, or the first. Default: as the model's folder says."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many heads to print.")] = 10,
    as_json: options.AsJson = False,
    device: options.Device = None,
    device_map: options.DeviceMap = None,
    dtype: options.Dtype = "float32",
    quantize: options.Quantize = None,
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
) -> None:
    """Say which tokens and heads make two texts alike.

    The cosine of the vectors that a sentence encoder makes of two texts, as a sum over the tokens and heads of each. The
    parts sum to the cosine, and what is left over is printed.

    Examples:

      headscope similarity sentence-transformers/all-MiniLM-L6-v2 "A cat sleeps." "The kitten is asleep."

      headscope similarity BAAI/bge-small-en-v1.5 "A cat sleeps." "Markets fell." --pooling cls --json
    """
    from headscope.lens import ModelSource
    from headscope.writing import similarity as compared

    with ModelSource(
        model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize
    ).open() as lens:
        found = compared(lens, one, other, pooling=pooling)
    if as_json:
        typer.echo(json.dumps(_as_json(found)))
    else:
        _print(found, top)


def _as_json(found: Similarity) -> dict[str, Any]:
    sides = {name: _side(parts) for name, parts in (("one", found.one), ("other", found.other))}
    pairs = found.pairs.to_numpy().tolist()
    return {
        "cosine": found.cosine,
        "pooling": found.pooling,
        **sides,
        "pairs": pairs,
        "heads": found.by_head().to_dict("records"),
    }


def _side(parts: Parts) -> dict[str, Any]:
    tokens = parts.by_token().drop(columns="side").to_dict("records")
    return {"tokens": tokens, "sums": parts.sums, "remainder": parts.remainder}


def _print(found: Similarity, top: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    by = "the mean of their tokens" if found.pooling == "mean" else "their first tokens"
    console.print(Text(f"cosine of {by}: {found.cosine:.4f}", style="bold"))
    for name, parts in (("A", found.one), ("B", found.other)):
        sums = ", ".join(f"{of} {amount:+.4f}" for of, amount in parts.sums.items())
        console.print(Text(f"{name}: {sums}; left over {parts.remainder:+.1e}"))
        table = Table("token", "part", "through heads", "itself", box=None, header_style="bold")
        for row in parts.by_token().to_dict("records"):
            numbers = (row["heads"] + row["itself"], row["heads"], row["itself"])
            table.add_row(Text(row["token"]), *(Text(f"{number:+.4f}", justify="right") for number in numbers))
        console.print(table)
    heads = Table("head", "by A", "by B", box=None, header_style="bold")
    by_head = found.by_head()
    order = (by_head["one"].abs() + by_head["other"].abs()).sort_values(ascending=False, kind="stable").index[:top]
    for row in by_head.loc[order].to_dict("records"):
        heads.add_row(f"{row['layer']}.{row['head']}", f"{row['one']:+.4f}", f"{row['other']:+.4f}")
    console.print(heads)
