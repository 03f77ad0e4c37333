"""Word alignments of a parallel corpus by one model: `headscope align` (kobayashi2020, section 5).

First what every layer and head would give is counted: how far heads agree, error rates where there are gold links, average
norms in any case. Then heads are chosen or weighed, or one layer, and their links are written, a line for each pair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from headscope.alignment.aligner import Aligner
from headscope.alignment.choosing import Chooser, Chosen
from headscope.alignment.drawing import check_lines, draw_pairs
from headscope.alignment.eflomal import eflomal_links
from headscope.alignment.gradient import gradient_links
from headscope.alignment.joining import PRODUCT
from headscope.alignment.link_files import read_links
from headscope.alignment.linking import Weighed, check_model, check_place, weigh
from headscope.alignment.parts import Linker, link_part, link_whole
from headscope.alignment.rules import Asked
from headscope.alignment.states import StateLayer, check_encoder, weigh_states
from headscope.alignment.tables import link_scores
from headscope.alignment.tuned_heads import TunedHeads
from headscope.alignment.writing import Way, scored, write_run
from headscope.errors import InputError
from headscope.files import write_text
from headscope.lens import Lens, ModelSource
from headscope.progress import Progress, Silent
from headscope.remote import as_path
from headscope.study import Run
from headscope.study.engine import Engine
from headscope.study.manifest import check_run
from headscope.study.results.result import Result
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus, Document

CHOICES, WEIGHTS = "choices.json", "weights.json"
SURVEYED = 500  # pairs that heads are chosen by, where there are no gold links
TITLES = {
    "aer_layers": "Error rates by layer: its heads together",
    "aer_heads": "Error rates by head",
    "mean_norms": "Average norm by head",
    "head_agreements": "How far heads agree as aligners",
    "state_layers": "How far both readings of the encoder's states agree, by layer",
    "tuning": "Tuning: what each penalty comes to on pairs that are left out in turn",
    "tuned_weights": "Tuned weights of heads",
}


def align(
    lens: Lens | ModelSource,
    corpus: Corpus,
    *,
    out: str | Path,
    layer: int | None = None,
    head: int | None = None,
    measure: str = "norm",
    setting: str | None = None,
    by: str = "agreement",
    by_head: bool = False,
    tune: Corpus | None = None,
    weights: str | Path | None = None,
    reverse: Lens | ModelSource | None = None,
    symmetrise: str = "grow-diag-final-and",
    prompt: str | None = None,
    gradient: int = 0,
    eflomal: bool = False,
    scores: bool = False,
    draw: Sequence[int] = (),
    batch_size: int = 16,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Run:
    """Choose heads and write their links in the run directory `out`; run it again to go on after an interruption.

    `corpus` has documents with `words` and `target_words`, and gold links (`with_gold`) where there are some. Without a
    `layer`, up to six heads are chosen together `by` "agreement": those whose links agree most, read from either side and
    with those of other heads. It needs no gold links, and `by_head` leaves only the first.

    `layer`, or `layer` and `head`, is read by `measure` (norm or weight) in a `setting` (AWI or AWO; without one AWI, and
    for each head by agreement the better one). `by` the highest average norm ("norm", the paper's own rule) or the lowest
    error rate ("aer") a layer is chosen, or with `by_head` a head.

    `tune` are about ten pairs with gold links, of this corpus or others: all heads are weighed by a regression on them, and
    error rates are those of other pairs. The weights are in the run's weights.json; `weights` is such a file. `by` "states"
    compares an encoder's states of both sides, where one encoder reads both languages.

    `reverse` is a model from the target to the source: both directions are joined, as `symmetrise` says. `prompt` is for a
    decoder-only model: a template with {source} and {target}. To compare with: by `gradient` noisy copies gradients align
    as well (Ding et al., 2019), and by `eflomal` the statistical aligner, where it is installed.

    `scores` writes the score of every link too, and `draw` draws the links of the pairs in these lines, from 1. `engine` is
    who counts and links: here, or on a cluster (`headscope.engines.Ray`).
    """
    asked = Asked(layer, head, measure, setting, by, by_head, symmetrise, prompt, gradient, eflomal, tune, weights)
    gold = has_gold(corpus)
    asked.check(gold=gold, reverse=reverse is not None)
    check_lines(draw, corpus)
    about = asked.described(None if reverse is None else _source(reverse).model) | {"corpus": corpus.fingerprint()}
    check_run(as_path(out), "align", _source(lens), about)
    if isinstance(lens, ModelSource) or isinstance(reverse, ModelSource):
        with _opened(lens) as one, _opened(reverse) as other:
            return align(
                one, corpus, out=out, reverse=other, scores=scores, draw=draw, batch_size=batch_size, engine=engine,
                progress=progress, **vars(asked),
            )  # fmt: skip
    workspace = Workspace("align", as_path(out), lens, about, progress or Silent(), engine=engine)
    chooser = Chooser(workspace, asked, gold, batch_size)
    models: dict[str, Lens] = {"forward": lens, **({} if reverse is None else {"reverse": reverse})}
    for model in models.values():
        if by == "states":
            check_encoder(model, layer)
            continue
        check_model(model, chooser.prompt)
        if layer is not None:
            check_place(model, layer, head)
    workspace.begin()

    some = corpus if gold or not _has_more_than(SURVEYED, corpus) else corpus.take(SURVEYED)
    tuned = [] if tune is None else list(tune)
    chosen: dict[str, Chosen] = {"forward": chooser.choose(lens, "survey", some, tuned)}
    for name, title in TITLES.items():
        if name in chosen["forward"].tables:
            workspace.add(Result(name, title, chosen["forward"].tables[name]))
    if reverse is not None:
        turned = Corpus.from_documents(list(map(flip, some)))
        chosen["reverse"] = chooser.choose(reverse, "survey-reverse", turned, list(map(flip, tuned)))

    def by_model(model: Lens, linker: Linker) -> Way:
        return lambda part: link_part(workspace, part, corpus, model, linker)

    def weighed(aligner: Aligner | StateLayer) -> Linker:
        if isinstance(aligner, StateLayer):
            return partial(weigh_states, layer=aligner.layer, batch_size=batch_size)
        shares = symmetrise == PRODUCT and reverse is not None
        return partial(weigh, choice=aligner, prompt=chooser.prompt, batch_size=batch_size, shares=shares)

    ways = {"forward": by_model(lens, weighed(chosen["forward"].aligner))}
    if reverse is not None:
        ways["reverse"] = by_model(reverse, partial(_weigh_back, forward=weighed(chosen["reverse"].aligner)))
    if gold and chosen["forward"].untuned is not None:
        ways["untuned"] = by_model(lens, weighed(chosen["forward"].untuned))
    if gradient:
        ways["gradient"] = by_model(lens, partial(gradient_links, samples=gradient))
    if eflomal:
        ways["eflomal"] = lambda part: link_whole(workspace, part, corpus, eflomal_links)
    parts = {name: way("links" if name == "forward" and reverse is None else name) for name, way in ways.items()}
    written = write_run(workspace.folder, parts, symmetrise, corpus if scores else None)
    for result in draw_pairs(draw, corpus, scored(parts, symmetrise)):
        workspace.add(result)
    said = [f"`{models[name].name}`: {one.aligner.label}; {one.aligner.why}." for name, one in chosen.items()]
    if gold:
        said += _score(workspace, written, corpus, tuned)
    warnings = [one.warning for one in chosen.values() if one.warning]
    _save_weights(workspace.folder, chosen)
    save_choices(workspace.folder, said, warnings)
    said += [*warnings, "`links.txt` has a line for each pair: source-target, both from 0."]
    return workspace.finish("Word alignments", said)


def _score(workspace: Workspace, written: Sequence[Path], corpus: Corpus, tuned: Sequence[Document]) -> list[str]:
    """The table of error rates of the links that were written, of pairs that were not tuned on; what is said of them."""
    told = {_pair(document) for document in tuned}
    documents = list(corpus)
    kept = [place for place, document in enumerate(documents) if _pair(document) not in told]
    if not kept:
        return ["All pairs were tuned on: there is no error rate of others."]
    found = {path.stem: list(read_links(path, format="pharaoh")) for path in written}
    table = link_scores(
        {name: [links[place] for place in kept] for name, links in found.items()},
        [documents[place].alignment for place in kept],
    )
    title = "The links that were written, against the gold links"
    left = f" of the {len(kept)} pairs that were not tuned on" if tuned else ""
    workspace.add(Result("align_scores", title + left, table))
    return [f"Error rates are those{left}."] if tuned else []


def _pair(document: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(document.words or ()), tuple(document.target_words or ())


def _save_weights(folder: Path, chosen: Mapping[str, Chosen]) -> None:
    """weights.json, and weights-reverse.json of a reverse model."""
    for name, one in chosen.items():
        if isinstance(one.aligner, TunedHeads):
            one.aligner.save(folder / (WEIGHTS if name == "forward" else f"weights-{name}.json"))


def save_choices(folder: Path, chosen: Sequence[str], warnings: Sequence[str]) -> None:
    """What was chosen and why, where a command can find it again."""
    write_text(folder / CHOICES, json.dumps({"chosen": chosen, "warnings": warnings}, indent=1) + "\n")


def read_choices(run: Run) -> dict[str, list[str]]:
    """`chosen`: a sentence for each model; `warnings`: what a reader of the links should know first."""
    found: dict[str, list[str]] = json.loads((run.folder / CHOICES).read_text())
    return found


def _source(lens: Lens | ModelSource) -> ModelSource:
    return lens if isinstance(lens, ModelSource) else lens.source


def _opened(lens: Any) -> Any:
    """A recipe, opened for as long as it is needed; what is open, or nothing, is left as it is."""
    return lens.open() if isinstance(lens, ModelSource) else nullcontext(lens)


def flip(document: Document) -> Document:
    """The pair the other way round."""
    gold = None if document.alignment is None else document.alignment.flipped()
    return replace(document, words=document.target_words, target_words=document.words, alignment=gold)


def _weigh_back(lens: Lens, documents: Sequence[Document], *, forward: Linker) -> list[Weighed]:
    """Links from the source to the target, by a model from the target to the source."""
    found = forward(lens, [flip(document) for document in documents])
    return [one.flipped() for one in found if isinstance(one, Weighed)]


def has_gold(corpus: Corpus) -> bool:
    """Whether its pairs have gold links."""
    for document in corpus:
        return document.alignment is not None
    raise InputError("There are no sentence pairs: there is nothing to align.")


def _has_more_than(count: int, corpus: Corpus) -> bool:
    return next(islice(corpus, count, None), None) is not None
