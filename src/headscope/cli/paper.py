"""`headscope paper PAPER MODEL ... -o RUN`: every table and figure of a paper, for any model. Each is made of its Paper."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field, fields, replace
from inspect import Parameter, Signature, getdoc, signature
from typing import Annotated, Any, get_type_hints

import typer

from headscope.cli import options
from headscope.cli.help import help_of
from headscope.engines import chosen_engine
from headscope.garbage import command_that_loads
from headscope.lens import ModelSource
from headscope.papers import PAPERS
from headscope.papers.options import OPTION, Option
from headscope.papers.paper import Paper
from headscope.progress import Bar
from headscope.statistics.set_by_text import parse_setting, said, split_setting
from headscope.study import Run
from headscope.study.results.drawers import drawers_here

paper = typer.Typer(
    help="Make every table and figure of a paper, for any model. The paper's own numbers stand beside.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _command(paper: type[Paper[Any, Any]]) -> Callable[..., None]:
    def command(
        *,
        model: options.Model,
        output: options.Output,
        batch_size: options.BatchSize = 16,
        engine: options.Engine = "local",
        address: options.Address = None,
        workers: options.Workers = None,
        set_by_text: options.Set = None,
        as_json: options.AsJson = False,
        device: options.Device = None,
        dtype: options.Dtype = "float32",
        revision: options.Revision = None,
        trust_remote_code: options.TrustRemoteCode = False,
        device_map: options.DeviceMap = None,
        quantize: options.Quantize = None,
        **given: Any,
    ) -> None:
        paper.check_given([name for name, value in given.items() if value])
        by_text = _set(paper, set_by_text or ())
        source = ModelSource(model, device, dtype, revision, trust_remote_code, device_map=device_map, quantization=quantize)
        data, settings = (_made(one, source, given) for one in (paper.data_type, paper.settings_type))
        chosen = replace(settings, **by_text)
        with (
            command_that_loads(),
            chosen_engine(engine, address, workers) as counting,
            drawers_here() as drawers,
            Bar(quiet=as_json) as bar,
        ):
            beside: Any = {"engine": counting, "drawers": drawers, "progress": bar}
            run = paper.run(source, data, chosen, out=output, batch_size=batch_size, **beside)
        _tell(run, as_json)

    model, output, *others, _ = signature(command, eval_str=True).parameters.values()
    own = {one.name: one for kind in (paper.data_type, paper.settings_type) for one in _parameters(kind)}  # --unit is of two
    command.__signature__ = Signature([model, output, *own.values(), *others])  # type: ignore[attr-defined]
    command.__doc__ = help_of("\n\n  ".join([f"{getdoc(paper)}\n\nExamples:", *paper.examples]))
    return command


def _set(paper: type[Paper[Any, Any]], given: Iterable[str]) -> dict[str, Any]:
    """What --set sets of a paper's Settings."""
    owner = paper.settings_type
    flags = {field.name: (option.flags or (f"--{field.name.replace('_', '-')}",))[-1] for field, option in _options(owner)}
    pairs = map(split_setting, given)
    return {name: parse_setting(paper.name, owner, name, text, flags) for name, text in pairs}


def _parameters(owner: type) -> Iterator[Parameter]:
    """The options of a paper's Data or Settings."""
    hints = get_type_hints(owner)
    for field, option in _options(owner):
        shown = typer.Option(*option.flags, help=option.help, min=option.least)
        if option.made is None:
            yield _parameter(field.name, hints[field.name], field.default, shown)
            continue
        kinds, parts = get_type_hints(option.made), signature(option.made).parameters
        yield _parameter(field.name, kinds["given"], None, shown)
        for part, help in option.parts.items():
            yield _parameter(part, kinds[part], parts[part].default, typer.Option(help=help))


def _options(owner: type) -> list[tuple[Field[Any], Option]]:
    return [(field, field.metadata[OPTION]) for field in fields(owner) if OPTION in field.metadata]


def _parameter(name: str, kind: Any, default: Any, shown: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown])


def _made(owner: type, source: ModelSource, given: dict[str, Any]) -> Any:
    """Data or Settings out of what was given."""
    values = {}
    for field, option in _options(owner):
        value, parts = given[field.name], {part: given[part] for part in option.parts}
        values[field.name] = value if option.made is None else option.made(source, value, **parts)
    return owner(**values)


def _tell(run: Run, as_json: bool) -> None:
    page, results, left_out = run.folder / run.manifest["page"], run.manifest["results"], run.manifest["left_out"]
    if as_json:
        told = {"run": str(run.folder), "page": str(page), "results": list(results), "left_out": left_out}
        typer.echo(json.dumps(told))
        return
    for name, title in results.items():
        typer.echo(f"  {name:24} {title}")
    for line in left_out:
        typer.echo(f"Left out: {line}")
    typer.echo(f"Everything on one page: {page}")
    typer.echo(
        f"Tables (Parquet, Markdown, LaTeX) in {run.folder / 'tables'}, figures (SVG, PDF) in {run.folder / 'figures'}."
    )


for one in PAPERS:
    paper.command(one.name, epilog=options.settings_said(said(one.settings_type)))(_command(one))
