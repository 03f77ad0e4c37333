"""Models by name: those that were given at the start, and no others."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headscope.demo import model as demo_model
from headscope.errors import InputError
from headscope.lens import HeadMeans, Lens, ModelSource
from headscope.lens.predictions import compares_texts
from headscope.lens.source import short_name
from headscope.lens.task import task_of
from headscope.measures import MEASURES, can_have
from headscope.server.refusal import Refusal
from headscope.server.schemas import AttentionInfo, ModelInfo
from headscope.study import load_run
from headscope.views.from_reading import USUAL
from headscope.views.pack import measure_json


def named(given: Sequence[str]) -> dict[str, str]:
    """NAME=PATH, or what stands for itself, by name; of a path that is there only its end, since pages show the name.

    >>> named(["bert-base-uncased", "small=models/tiny"])
    {'bert-base-uncased': 'bert-base-uncased', 'small': 'models/tiny'}
    """
    sources: dict[str, str] = {}
    for one in given:
        name, equals, source = one.partition("=")
        if not equals or Path(one).exists():
            name, source = short_name(str(Path(one).absolute())) if Path(one).exists() else one, one
        if not name or not source:
            raise InputError(f"{one!r} is no model: write its name or path, or NAME=PATH.")
        if name in sources:
            raise InputError(f"Two models are called {name}: give one of them another name, as in other={source}.")
        sources[name] = source
    return sources


def open_models(
    given: Sequence[str],
    run: Path | None = None,
    *,
    device: str | None = None,
    device_map: str | None = None,
    trust_remote_code: bool = False,
    **options: Any,
) -> dict[str, Lens]:
    """A lens for each model (with `options` of ModelSource); without any, for the run's own, or else for the demo's."""
    here: Any = {"device": device, "trust_remote_code": trust_remote_code}
    mapped: Any = {**here, "device_map": device_map}
    sources = [ModelSource(model, name=name, **mapped, **options) for name, model in named(given).items()]
    if not sources and run is not None:
        sources = [ModelSource.described_as(load_run(run).manifest["model"], **mapped)]
    lenses: dict[str, Lens] = {}
    try:
        for source in sources:
            lenses[source.name] = source.open()
        return lenses or {demo_model.NAME: demo_model.open_model(**here)}
    except BaseException:
        close_models(lenses)
        raise


def give_means(lenses: Mapping[str, Lens], files: Sequence[str]) -> None:
    """The means of heads in FILE, or in NAME=FILE where there are several models, so that they can take the heads' place."""
    for one in files:
        name, equals, file = one.partition("=")
        if not equals or Path(one).exists():
            if len(lenses) > 1:
                raise InputError(f"Say whose means {one} has, as in {next(iter(lenses))}={one}: there are several models.")
            name, file = next(iter(lenses)), one
        if name not in lenses:
            raise InputError(f"There is no model {name!r} for the means of {file}: choose one of {', '.join(lenses)}.")
        lenses[name].means = HeadMeans.load(file)


def close_models(lenses: Mapping[str, Lens]) -> None:
    for lens in lenses.values():
        lens.close()


def lens_of(lenses: Mapping[str, Lens], name: str) -> Lens:
    """The lens of that name, or a refusal that says which there are."""
    if name not in lenses:
        raise Refusal(404, f"There is no model {name[:100]!r} here: choose one of {', '.join(lenses)}.")
    return lenses[name]


def describe(name: str, lens: Lens, max_tokens: int) -> ModelInfo:
    """What the page must know of a model before it reads a text."""
    groups: dict[tuple[str, str], AttentionInfo] = {}
    for site in lens.sites:
        empty = AttentionInfo.model_validate({"stack": site.stack, "kind": site.kind, "layers": [], "heads": []})
        group = groups.setdefault((site.stack, site.kind), empty)
        group.layers.append(site.layer)
        group.heads.append(site.heads)
    return ModelInfo(
        name=name,
        architecture=type(lens.model).__name__,
        layers=len({(site.stack, site.layer) for site in lens.sites}),
        heads=sum(site.heads for site in lens.sites),
        attentions=list(groups.values()),
        encoder_decoder=lens.is_encoder_decoder,
        max_tokens=min(max_tokens, lens.max_tokens or max_tokens),
        measures=[{**measure_json(name), "usual": name in USUAL} for name in measures_of(lens)],
        predicts=(task := task_of(lens)),
        mask=getattr(lens.tokenizer, "mask_token", None) if task == "masked" else None,
        compares=compares_texts(lens),
        means=lens.means is not None,
    )


def measures_of(lens: Lens) -> list[str]:
    """The measures of pairs of tokens that can be had at one of the model's attentions at least."""
    pairs = [name for name, known in MEASURES.items() if not known.per_key]
    return [name for name in pairs if any(can_have(site, name) for site in lens.sites)]
