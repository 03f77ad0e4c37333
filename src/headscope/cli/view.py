"""`headscope view MODEL TEXT`: a text as a model's heads see it, as a page or a figure."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from headscope.cli import options
from headscope.errors import InputError
from headscope.lens import ModelSource
from headscope.text import Document
from headscope.views.choosing import heads_named
from headscope.views.from_reading import check_length
from headscope.views.show import view_of
from headscope.views.state import VIEWS, Pairs
from headscope.views.view import View


def view(
    model: options.Model,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The text, in quotes; or --file.")] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", metavar="FILE", help="view.html, .svg, .pdf or .png; may be repeated."),
    ] = None,
    kind: Annotated[str, typer.Option("--view", help=f"What it opens with: {', '.join(VIEWS)}.")] = "head",
    pair: options.Pair = None,
    target: options.Target = None,
    file: Annotated[Path | None, typer.Option(help="Read the text from this file.")] = None,
    measure: options.Measure = "weight",
    compare: Annotated[str, typer.Option(help="The matrix: a second measure beside the first.")] = "",
    attention: options.Attention = "",
    layer: Annotated[int | None, typer.Option(help="The layer it opens with.")] = None,
    heads: Annotated[str, typer.Option(help="The heads it opens with: 0,4.")] = "",
    only: Annotated[str, typer.Option(help="Leave out all heads but these: 3.1,5.0; 3 is a whole layer.")] = "",
    level: options.Level = "token",
    pairs: Annotated[Pairs, typer.Option(help="Of a sentence pair: from which text to which.")] = "all",
    keep: Annotated[str, typer.Option(help="Tokens to keep chosen: q3,k5 (the 4th attends, the 6th is attended to).")] = "",
    least: Annotated[
        float, typer.Option(min=0, max=1, metavar="PART", help="Do not draw scores below this part of the largest.")
    ] = 0.0,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Draw only so many of each token's scores; 0: all.")] = 0,
    without_sinks: options.WithoutSinks = None,
    renormalise: options.Renormalise = False,
    run: Annotated[Path | None, typer.Option(help="A run directory: heads can be sorted by its statistics.")] = None,
    sort: Annotated[str, typer.Option(help="The model view: a statistic of the run to sort by.")] = "",
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
) -> None:
    """See a text as a model's heads see it, on one page.

    The page has four views and needs no network; figures for print are made of the same choices.

    Examples:

      headscope view bert-base-uncased "The keys to the cabinet are on the table." -o view.html

      headscope view Helsinki-NLP/opus-mt-fr-en "Le chat dort." --target "The cat sleeps." --attention "decoder cross"

      headscope view gpt2 --file story.txt --view matrix --only 5.1 --compare norm -o story.html

      headscope view bert-base-uncased "The dog barked." --layer 2 --heads 0 -o figure.pdf -o figure.svg
    """
    if kind not in VIEWS:
        raise InputError(f"There is no view {kind!r}: choose one of {', '.join(VIEWS)}.")
    paths = _paths(output, svg=svg, pdf=pdf, png=png)
    with ModelSource(model, device, dtype, revision, trust_remote_code).open() as lens:
        document = Document(_text(text, file), pair, target)
        chosen = heads_named(only, lens.sites) if only else None
        check_length(lens, document, chosen, truncate=truncate)
        reading = lens.read(document, truncate=truncate, layers=list(chosen) if chosen else None)
        made = view_of(
            kind, reading, measure=measure, compare=compare, attention=attention, layer=layer,
            heads=_numbers(heads) if heads else None, level=level, pairs=pairs, least=least, top=top,
            keep=[token for token in keep.split(",") if token], without_sinks=without_sinks, renormalise=renormalise,
            sort=sort, exact=exact, only=chosen, run=run,
        )  # fmt: skip
    _write(made, paths, as_json)


def _write(made: View, paths: list[Path], as_json: bool) -> None:
    sizes = {str(made.save(path)): path.stat().st_size for path in paths}
    if as_json:
        typer.echo(json.dumps({"title": made.content.title, "view": made.state.view, "files": sizes}))
        return
    console = Console(highlight=False, soft_wrap=True)
    for path, size in sizes.items():
        console.print(f"Written: {path} ({size / 1e6:.1f} MB)" if size >= 1e5 else f"Written: {path} ({size / 1e3:.0f} KB)")
    if any(path.suffix == ".html" for path in paths):
        console.print("Open it in a browser: it needs no network, and can be sent to others as it is.")


def _paths(output: list[Path] | None, **figures: bool) -> list[Path]:
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
