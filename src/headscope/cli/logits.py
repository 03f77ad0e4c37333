"""`headscope logits MODEL TEXT`: which head and token speaks for a prediction, as tables, as JSON, or drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import options

if TYPE_CHECKING:
    from headscope.writing.logits import Logits


def logits(
    model: options.Model,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text, in quotes.")],
    token: Annotated[str | None, typer.Option(help="Whose logit: ' Mary', with its space. Default: the likeliest.")] = None,
    against: Annotated[str | None, typer.Option(help="Another token: what the first has more than this one.")] = None,
    at: Annotated[int | None, typer.Option(help="Which position; -1 is the last. Default: the last, or the mask.")] = None,
    pair: options.Pair = None,
    target: options.Target = None,
    head: Annotated[
        str | None, typer.Option(metavar="HEAD", help="One head, as in 23.3: its parts by token, and what it writes.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many heads and tokens to print.")] = 12,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", metavar="FILE", help="Draw it: .svg, .pdf, .png; or .html, a page; repeatable."),
    ] = None,
    truncate: options.Truncate = False,
    as_json: options.AsJson = False,
    device: options.Device = None,
    device_map: options.DeviceMap = None,
    dtype: options.Dtype = "float32",
    quantize: options.Quantize = None,
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
) -> None:
    """Say which heads and tokens speak for a prediction.

    The part of every head and source token in a logit, or in the difference of two, along the direct path, beside those of
    the embedding, the MLPs and the biases. The parts sum to the logit, and what is left over is printed.

    Examples:

      headscope logits gpt2 "When John and Mary went out, John gave the bag to" --token " Mary" --against " John"

      headscope logits bert-base-uncased "The keys to the cabinet [MASK] here." --token are --against is

      headscope logits Helsinki-NLP/opus-mt-fr-en "Le chat dort." --target "The cat sleeps." --at 2 --token " cat"

      headscope logits gpt2 "The keys to the cabinet" --token " are" --against " is" --head 10.7 -o logits.svg
    """
    from headscope.lens import ModelSource
    from headscope.views import View

    for path in output or []:
        View.check_kind(path)
    with ModelSource(
        model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize
    ).open() as lens:
        found = lens.read(text, pair=pair, target=target, truncate=truncate).logits(token, against=against, at=at)
        written = [str(found.save(path, head=head)) for path in output or []]
        if as_json:
            typer.echo(json.dumps(_as_json(found, head, top) | {"files": written}))
        else:
            _print(found, head, top, written)


def _as_json(found: Logits, head: str | None, top: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "token": {"id": found.token.id, "text": found.token.text},
        "against": None if found.against is None else {"id": found.against.id, "text": found.against.text},
        "position": found.position,
        "tokens": found.texts,
        "logit": found.total,
        "sums": found.sums,
        "remainder": found.remainder,
        "parts": _records(found.table()),
        "by_token": _records(found.by_token()),
    }
    if head is not None:
        said["head"] = {"tokens": _records(found.by_token(head)), "writes": _records(found.writes(head, top))}
        said["head"]["copying"] = _copying(found, head)[0]
    return said


def _records(table: Any) -> list[dict[str, Any]]:
    missing = table.isna()
    return [
        {name: None if missing.at[row, name] else _plain(value) for name, value in record.items()}
        for row, record in zip(table.index, table.to_dict("records"), strict=True)
    ]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _copying(found: Logits, head: str) -> tuple[float | None, str]:
    """A head's copying score, and why it has none."""
    from headscope.errors import ModelError
    from headscope.writing import copying_scores

    chosen = found.head(head)
    try:
        table = copying_scores(found.reading.lens)
    except ModelError as error:
        return None, str(error)
    here = table[(table[["stack", "kind", "layer", "head"]] == list(chosen)).all(axis=1)]["copying"].tolist()
    known = bool(here) and not math.isnan(here[0])
    return (here[0], "") if known else (None, f"{chosen.name} has no copying score: it writes nothing to the words.")


def _print(found: Logits, head: str | None, top: int, written: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from headscope.views.logit_parts import NAMED

    console = Console(highlight=False)
    what = f"{found.token} less {found.against}" if found.against else str(found.token)
    before = found.texts[max(0, found.position - 5) : found.position + 1]
    where = f"at position {found.position}, … {' '.join(before)}" if found.position > 5 else f"at {' '.join(before)}"
    console.print(Text(f"{what}, {where}: {found.total:.4f}", style="bold"))
    sums = Table(box=None, show_header=False, padding=(0, 1))
    for of, amount in found.sums.items():
        sums.add_row(NAMED[of], Text(f"{amount:+.4f}"))
    sums.add_row("left over", Text(f"{found.remainder:+.1e}"), style="dim")
    console.print(sums)
    heads = Table("head", "part", "most of it through", "", box=None, header_style="bold")
    for row in found.by_head().head(top).to_dict("records"):
        name = f"{row['layer']}.{row['head']}" if _one_kind(found) else f"{row['kind']} {row['layer']}.{row['head']}"
        heads.add_row(name, _signed(row["part"]), Text(row["key_token"]), _signed(row["of_token"]))
    console.print(heads)
    if head is not None:
        _print_head(console, found, head, top)
    for path in written:
        console.print(Text(f"Written: {path}"))


def _print_head(console: Any, found: Logits, head: str, top: int) -> None:
    from rich.table import Table
    from rich.text import Text

    tokens = found.by_token(head)
    console.print(Text(f"{head} looks at, with its part in the logit:", style="bold"))
    table = Table(box=None, show_header=False)
    order = tokens["part"].abs().sort_values(ascending=False, kind="stable").index[:top]
    for place in sorted(order):
        table.add_row(str(place), Text(tokens["token"][place]), _signed(tokens["part"][place]))
    console.print(table)
    writes = found.writes(head, top).to_dict("records")
    more, less = writes[: len(writes) // 2], writes[: (len(writes) - 1) // 2 : -1]
    console.print(Text(f"{head} writes here: what it makes more likely, and less", style="bold"))
    table = Table(box=None, show_header=False)
    for one, other in zip(more, less, strict=False):
        table.add_row(Text(repr(one["token"])), _signed(one["logit"]), Text(repr(other["token"])), _signed(other["logit"]))
    console.print(table)
    score, why = _copying(found, head)
    said = (
        why if score is None else f"Copying score of {head}, from its weights alone: {score:+.2f} (1 copies, -1 suppresses)."
    )
    console.print(Text(said))


def _one_kind(found: Logits) -> bool:
    return len({(site.stack, site.kind) for site in found.heads}) == 1


def _signed(number: float) -> Any:
    from rich.text import Text

    return Text(f"{number:+.4f}", style="blue" if number >= 0 else "red", justify="right")
