"""`headscope league MODEL... CORPUS -o RUN`: which number of a head predicts what happens without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from headscope.cli import options
from headscope.remote import as_path
from headscope.text import FORMATS

if TYPE_CHECKING:
    from headscope.later import pd
    from headscope.study import Run
    from headscope.text import Corpus


def league(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL...", help="Hub ids, folders with saved models, or GGUF files (extra: gguf)."),
    ],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A file, folder or glob.")],
    output: options.Output,
    how: Annotated[
        list[str] | None,
        typer.Option("--how", metavar="WAY", help="In a head's place: mean, zero, resample. Default: zero and mean."),
    ] = None,
    texts: Annotated[int | None, typer.Option(min=2, metavar="N", help="Only the first so many documents.")] = None,
    exact: Annotated[
        int | None,
        typer.Option(min=3, metavar="N", help="Only so many heads, drawn by lot from all layers: for large models."),
    ] = None,
    curves: Annotated[
        bool, typer.Option("--curves/--no-curves", help="Take heads away one after the other, by each number.")
    ] = True,
    curve_texts: Annotated[int, typer.Option(min=1, metavar="N", help="Documents that curves are of.")] = 32,
    orders: Annotated[int, typer.Option(min=0, metavar="N", help="Random orders beside the numbers' own.")] = 10,
    bearable: Annotated[
        float | None,
        typer.Option(metavar="LOSS", help="Up to which heads may go. Default: 0.1 nats a token; 0.01 of 1 - cos."),
    ] = None,
    tokens: Annotated[
        int, typer.Option(min=0, metavar="N", help="Rows of each attention that lose one token's vector after another.")
    ] = 0,
    report: Annotated[bool, typer.Option("--report", help="Write the page of it as well.")] = False,
    target: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=as_path, help="For a translator: the translations, line by line.")
    ] = None,
    first: Annotated[
        Literal["source", "target"] | None, typer.Option(help="For a translator: which side of `a ||| b` comes first.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(FORMATS)}. Default: recognised from the content.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Of a treebank: sentence, or document (# newdoc).")] = None,
    column: Annotated[str | None, typer.Option(help="The column of JSONL and Parquet files. Default: text.")] = None,
    keep_marks: options.KeepMarks = False,
    batch_size: options.BatchSize = 16,
    shard_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Documents a shard; a kill loses at most one shard.")
    ] = 32,
    max_tokens: options.MaxTokens = None,
    truncate: options.Truncate = False,
    on_error: options.OnError = "stop",
    engine: options.Engine = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    as_json: options.AsJson = False,
    device: options.Device = None,
    device_map: options.DeviceMap = None,
    dtype: options.Dtype = "float32",
    quantize: options.Quantize = None,
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
) -> None:
    """See which number of a head predicts what happens without it. Run it again to go on after an interruption.

    Every head is taken away, as headscope ablate does it; Spearman's rho says how well entropy, norms, gradients and others
    rank heads by what that changes: over all heads, within layers, given the layer, with intervals. Then heads go one after
    the other in each number's order. What it will cost is said first.

    Examples:

      headscope league gpt2 texts.txt -o run --texts 50 --report

      headscope league gpt2 distilgpt2 texts.txt -o run --texts 50 --no-curves

      headscope league gpt2 texts.txt -o run --texts 20 --exact 60 --how mean

      headscope league gpt2 texts.txt -o run --texts 20 --no-curves --tokens 50

      headscope league Helsinki-NLP/opus-mt-fr-en fr.txt --target en.txt -o run
    """
    from headscope.engines import chosen_engine
    from headscope.league import league as run_league
    from headscope.lens import ModelSource
    from headscope.progress import Bar
    from headscope.text import Corpus

    documents: Corpus
    if target is not None or first is not None:
        from headscope.text.parallel import parallel_documents

        documents = parallel_documents(corpus, target, first=first or "source", on_error=on_error)
    else:
        documents = Corpus.from_files(
            corpus, format=format, unit=unit, column=column, keep_marks=keep_marks, on_error=on_error
        )
    sources = [
        ModelSource(model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize)
        for model in models
    ]
    with chosen_engine(engine, address, workers) as counting, Bar(quiet=as_json) as bar:
        run = run_league(
            sources, documents, how=how or ("zero", "mean"), texts=texts, exact=exact, curves=curves,
            curve_texts=curve_texts, orders=orders, bearable=bearable, tokens=tokens, out=output, batch_size=batch_size,
            max_tokens=max_tokens, truncate=truncate, on_error=on_error, shard_size=shard_size, engine=counting,
            progress=bar,
        )  # fmt: skip
    _tell(run, run.report() if report else None, as_json)


def _tell(run: Run, page: Path | None, as_json: bool) -> None:
    findings = run.manifest["findings"]
    if as_json:
        said = {"run": str(run.folder), "tables": run.tables, "findings": findings}
        said |= {"report": str(page)} if page else {}
        typer.echo(json.dumps({**said, "league": _records(run["league"])}, ensure_ascii=False))
        return
    if "league_models" in run:
        typer.echo(run["league_models"].round(2).to_string(index=False, na_rep=""))
    else:
        _tell_one(run)
    by_model = findings if isinstance(findings, dict) else {"": findings}
    for some in by_model.values():
        for line in some:
            typer.echo(line)
    typer.echo(f"Everything on one page: {run.folder / run.manifest['page']}")
    typer.echo(f"Look at a table with: headscope table {run.folder} league --sort rho")
    if page:
        typer.echo(f"Report: {page}. Open it in a browser; it needs no network.")
    else:
        typer.echo(f"Make a page to click through with: headscope report {run.folder}")


def _tell_one(run: Run) -> None:
    table, way, effect = run["league"], run.manifest["way"], run.manifest["effect"]
    some = table[(table["scope"] == "all") & (table["how"] == way) & (table["effect"] == effect)]
    typer.echo(f"rho with {effect}, {way} in a head's place, {run.manifest['texts']:,} texts (95 % intervals):")
    for row in some.sort_values("rho", ascending=False, key=abs).to_dict("records"):
        interval = f"({row['rho_low']:+.2f} to {row['rho_high']:+.2f})"
        typer.echo(f"  {row['number']:24} {row['rho']:+.2f} {interval:18}  within layers {row['within']:+.2f}")


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """JSON has no word for what is not a number."""
    return [
        {name: None if isinstance(value, float) and value != value else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]
