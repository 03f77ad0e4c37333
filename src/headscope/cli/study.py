"""`headscope study MODEL CORPUS -o RUN`: statistics over a corpus, in one pass, that resumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headscope.cli.progress import Bar
from headscope.errors import InputError
from headscope.lens import open as open_lens
from headscope.report.needed_tables import complete, report_measures, report_statistics
from headscope.statistics import STATISTICS, usual_statistics
from headscope.statistics.base import Statistic
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.study import study as run_study
from headscope.text import FORMATS, Annotator, Corpus


def _print_list(asked: bool) -> None:
    if asked:
        table = Table(box=None, show_header=False)
        for name in sorted(STATISTICS):
            table.add_row(Text(name, style="bold"), STATISTICS[name].about)
        Console().print(table)
        raise typer.Exit


def study(
    model: Annotated[str, typer.Argument(help="A hub id, a folder with a saved model, or a GGUF file.")],
    corpus: Annotated[list[str], typer.Argument(help="Files, folders or globs.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The run directory; an unfinished run there goes on.")],
    statistics: Annotated[
        list[str] | None,
        typer.Option("-s", "--statistic", help="One of --list; may be repeated. Default: the usual ones."),
    ] = None,
    measures: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="What is counted; may be repeated. Default: weight.")
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="Count in words instead of the tokenizer's pieces.")] = False,
    format: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(FORMATS)}. Default: recognised from the content.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="What a document is, where a format has a choice.")] = None,
    column: Annotated[str | None, typer.Option(help="The column of JSONL and Parquet files. Default: text.")] = None,
    annotate: Annotated[str | None, typer.Option(help="Add parts of speech and dependencies: spacy:PIPELINE.")] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts at a time.")] = 16,
    shard_size: Annotated[int, typer.Option(min=1, help="Documents a shard; a kill loses at most one shard.")] = 256,
    limit: Annotated[int | None, typer.Option(min=1, help="Most tokens a document, below the model's own limit.")] = None,
    truncate: Annotated[bool, typer.Option("--truncate", help="Cut long documents off at the limit.")] = False,
    on_error: Annotated[str, typer.Option(help="stop, or skip: pass over what cannot be read, and count it.")] = "stop",
    random_init: Annotated[
        int | None, typer.Option(metavar="SEED", help="Use the model's randomly initialised twin instead.")
    ] = None,
    report: Annotated[
        bool,
        typer.Option("--report", help="Count what a report shows (unless -s says otherwise), and write it."),
    ] = False,
    list_statistics: Annotated[
        bool, typer.Option("--list", callback=_print_list, is_eager=True, help="List the statistics.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say where the output is, and what was counted, as JSON.")] = False,
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that comes with the model. Read it first.")] = False,
) -> None:
    """Count statistics over a corpus. Run the same command again to go on after an interruption.

    [bold]Examples[/bold]

      headscope study bert-base-uncased wiki.txt -o run

      headscope study bert-base-uncased wiki.txt -o run --report

      headscope study gpt2 "texts/*.jsonl.gz" -o run -s entropy -s distance -m weight -m norm --truncate

      headscope study bert-base-uncased wiki.txt -o run --format paragraph-pairs --limit 128 --truncate
    """
    documents = Corpus.from_files(*corpus, format=format, unit=unit, column=column, on_error=_checked(on_error))
    if annotate is not None:
        documents = documents.annotated(Annotator.of(annotate))
    if statistics or not report:
        chosen = _chosen(statistics, measures or ["weight"], "word" if words else "token")
    with open_lens(model, trust_remote_code=trust_remote_code, random_init=random_init) as lens, Bar(quiet=as_json) as bar:
        if report and not statistics:
            chosen = report_statistics(measures or report_measures(lens), without_first=is_decoder_only(lens.sites))
        run = run_study(
            lens,
            documents,
            chosen,
            out=output,
            batch_size=batch_size,
            max_tokens=limit,
            truncate=truncate,
            on_error=on_error,
            shard_size=shard_size,
            progress=bar,
        )
        page = None
        if report:
            complete(lens, run, documents)
            page = run.report()
    if as_json:
        said = {"run": str(run.folder), "tables": run.tables, **run.manifest["counts"]}
        typer.echo(json.dumps(said | ({"report": str(page)} if page else {})))
        return
    counts = run.manifest["counts"]
    skipped = counts["skipped"] + run.manifest["corpus"]["skipped"]["count"]
    typer.echo(f"Counted {counts['documents']:,} documents, {counts['tokens']:,} tokens; skipped {skipped:,}.")
    for example in run.manifest["corpus"]["skipped"]["examples"][:5]:
        typer.echo(f"  skipped {example}")
    typer.echo(f"Tables in {run.folder / 'tables'}: {', '.join(run.tables)}.")
    typer.echo(f"Look at one with: headscope table {run.folder} {run.tables[0]}")
    if page:
        typer.echo(f"Report: {page}. Open it in a browser; explore it live with: headscope serve --run {run.folder}")
    else:
        typer.echo(f"Make a page of them with: headscope report {run.folder}")


def _checked(on_error: str) -> Any:
    if on_error not in ("stop", "skip"):
        raise InputError(f"--on-error is stop or skip, not {on_error!r}.")
    return on_error


def _chosen(names: list[str] | None, measures: list[str], level: str) -> list[Statistic]:
    chosen = [STATISTICS[name] for name in names or usual_statistics()]
    # A statistic that counts in one unit only is not asked for another.
    return [
        cls(measure=measure, level=level if level in cls.levels else cls.levels[0]) for cls in chosen for measure in measures
    ]
