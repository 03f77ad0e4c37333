"""`headscope view MODEL TEXT`: a text as a model's heads see it, as a page or a figure."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headscope.cli import options
from headscope.errors import InputError
from headscope.measures import MEASURES
from headscope.text import Document
from headscope.views.state import VIEWS, Pairs, Scale, Small

if TYPE_CHECKING:
    from headscope.lens import ModelSource, Reading
    from headscope.views import Content, View
    from headscope.views.choosing import Only


def view(
    model: options.Model,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The text, in quotes; or --file.")] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", metavar="FILE", help="view.html, .svg, .pdf or .png; may be repeated."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--view", help=f"What it opens with: {', '.join(VIEWS)}. Default: head; of a difference model."),
    ] = None,
    pair: options.Pair = None,
    target: options.Target = None,
    file: Annotated[Path | None, typer.Option(help="Read the text from this file.")] = None,
    against: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Another text: the view is of how it differs from the first.")
    ] = None,
    against_target: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Another translation; without one, --target is that of both.")
    ] = None,
    against_model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Another model: the view is of how it differs on the same text.")
    ] = None,
    against_revision: Annotated[
        str | None, typer.Option(metavar="REVISION", help="Another revision of the model, or that of --against-model.")
    ] = None,
    measure: options.Measure = "weight",
    compare: Annotated[str, typer.Option(help="The matrix: a second measure beside the first.")] = "",
    scale: Annotated[
        Scale, typer.Option(help="The matrix: colours by the largest of all, of each row, or by powers of ten.")
    ] = "linear",
    small: Annotated[
        Small, typer.Option(help="The model view: heads as lines or as maps. Default: by the text's length.")
    ] = "",
    attention: options.Attention = "",
    layer: Annotated[
        int | None, typer.Option(help="The layer it opens with. Default: that of the heads that say most about the text.")
    ] = None,
    heads: Annotated[str, typer.Option(help="The heads it opens with: 0,4.")] = "",
    only: Annotated[str, typer.Option(help="Leave out all heads but these: 3.1,5.0; 3 is a whole layer.")] = "",
    level: Annotated[
        Literal["token", "word"] | None,
        typer.Option(help="In the tokenizer's pieces, or merged to words. Default: token; of two tokenizers word."),
    ] = None,
    pairs: Annotated[Pairs, typer.Option(help="Of a sentence pair: from which text to which.")] = "all",
    keep: Annotated[str, typer.Option(help="Tokens to keep chosen: q3,k5 (the 4th attends, the 6th is attended to).")] = "",
    least: Annotated[
        float, typer.Option(min=0, max=1, metavar="PART", help="Do not draw scores below this part of the largest.")
    ] = 0.0,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Draw only so many of each token's scores; 0: all.")] = 0,
    without_sinks: options.WithoutSinks = None,
    renormalise: options.Renormalise = False,
    run: Annotated[Path | None, typer.Option(help="A run directory: heads can be sorted by its statistics.")] = None,
    sort: Annotated[
        str | None, typer.Option(help="The model view: a statistic of the run to sort by; of a difference also change.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Keep scores as floats: exact, and four times as large.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="Also a figure for print, as SVG, beside the page.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="The same as PDF.")] = False,
    png: Annotated[bool, typer.Option("--png", help="The same as PNG.")] = False,
    truncate: options.Truncate = False,
    as_json: options.AsJson = False,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    device_map: options.DeviceMap = None,
    quantize: options.Quantize = None,
) -> None:
    """See a text as a model's heads see it, on one page.

    The page has four views and needs no network; figures for print are made of the same choices.

    Examples:

      headscope view bert-base-uncased "The keys to the cabinet are on the table." -o view.html

      headscope view Helsinki-NLP/opus-mt-fr-en "Le chat dort." --target "The cat sleeps." --attention "decoder cross"

      headscope view gpt2 --file story.txt --view matrix --only 5.1 --compare norm -o story.html

      headscope view bert-base-uncased "The dog barked." --layer 2 --heads 0 -o figure.pdf -o figure.svg

      headscope view gpt2 "The keys to the cabinet are" --against "The key to the cabinet is" -o difference.html

      headscope view bert-base-uncased "The dog barked." --against-model bert-large-uncased -o models.html
    """
    from headscope.lens import ModelSource
    from headscope.views import view_of

    if kind is not None and kind not in VIEWS:
        raise InputError(f"There is no view {kind!r}: choose one of {', '.join(VIEWS)}.")
    for name in (measure, compare or measure):
        MEASURES[name]  # one that is not there is refused before a model is opened
    paths = _paths(output, svg=svg, pdf=pdf, png=png)
    asked = [
        (
            ModelSource(model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize),
            Document(_text(text, file), pair, target),
        )
    ]
    if any(given is not None for given in (against, against_target, against_model, against_revision)):
        asked.append(_second(*asked[0], against, against_target, against_model, against_revision))
    opened = kind or ("head" if len(asked) == 1 else "model")
    readings, chosen = _read(asked, only, truncate, opened, [name for name in (measure, compare) if name])
    made = view_of(
        opened, readings[0], against=readings[1] if readings[1:] else None,
        measure=measure, compare=compare, attention=attention, layer=layer, heads=_numbers(heads) if heads else None,
        level=level, pairs=pairs, least=least, top=top, keep=[token for token in keep.split(",") if token],
        without_sinks=without_sinks, renormalise=renormalise, scale=scale, small=small, sort=sort, exact=exact,
        only=chosen, run=run,
    )  # fmt: skip
    _write(made, paths, as_json)


def _second(
    source: ModelSource, first: Document, text: str | None, target: str | None, model: str | None, revision: str | None
) -> tuple[ModelSource, Document]:
    """What is compared with the first: the same, but for what is given."""
    document = replace(first, text=first.text if text is None else text, target=first.target if target is None else target)
    if model is None and revision is None:
        return source, document
    other = replace(source, model=model or source.model, revision=revision, name="")
    alike = other.name == source.name  # two folders of one name, or two revisions: pages must tell them apart
    said = f"{other.name}@{revision}" if revision else other.model
    return (replace(other, name=said) if alike else other), document


def _read(
    asked: list[tuple[ModelSource, Document]], only: str, truncate: bool, view: str, measures: list[str]
) -> tuple[list[Reading | Content], Only | None]:
    """The readings, or the heads that are meant alone; a model that reads both is opened once."""
    from headscope.views.by_rows import read_heads
    from headscope.views.choosing import heads_named
    from headscope.views.from_reading import check_length

    readings: list[Reading | Content] = []
    chosen: Only | None = None
    for source, documents in groupby(asked, key=itemgetter(0)):
        with source.open() as lens:
            chosen = heads_named(only, lens.sites) if only else None
            for _, document in documents:
                check_length(lens, document, chosen, truncate=truncate)
                if chosen is None:
                    readings.append(lens.read(document, truncate=truncate))
                else:
                    readings.append(
                        read_heads(view if len(asked) == 1 else "", lens, document, chosen, measures, truncate=truncate)
                    )
    return readings, chosen


def _write(made: View, paths: list[Path], as_json: bool) -> None:
    sizes = {str(made.save(path)): path.stat().st_size for path in paths}
    if as_json:
        typer.echo(json.dumps({"title": made.content.title, "view": made.state.view, "files": sizes}))
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for path, size in sizes.items():
        console.print(f"Written: {path} ({size / 1e6:.1f} MB)" if size >= 1e5 else f"Written: {path} ({size / 1e3:.0f} KB)")
    if any(path.suffix == ".html" for path in paths):
        console.print("Open it in a browser: it needs no network, and can be sent to others as it is.")


def _paths(output: list[Path] | None, **figures: bool) -> list[Path]:
    from headscope.views import View

    paths = list(output or [Path("view.html")])
    beside = paths[0]
    paths += [beside.with_suffix(f".{kind}") for kind, wanted in figures.items() if wanted]
    for path in paths:
        View.check_kind(path)
    return list(dict.fromkeys(paths))


def _text(text: str | None, file: Path | None) -> str:
    if (text is None) == (file is None):
        raise InputError("Give a text in quotes, or a file with --file: one of the two.")
    if file is None:
        return text or ""
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{file} cannot be read: {why}.") from error


def _numbers(names: str) -> list[int]:
    try:
        return [int(name) for name in names.split(",") if name.strip()]
    except ValueError as error:
        raise InputError(f"--heads takes numbers with commas between, as in 0,4: not {names!r}.") from error
