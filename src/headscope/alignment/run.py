"""Word alignments of a parallel corpus by one model: `headscope align` (kobayashi2020, section 5).

First what every layer and head would give is counted: error rates where there are gold links, average norms in any case.
Then one of them is chosen, and its links are written, a line for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd

from headscope.alignment.choice import RULES, Choice, highest_norm, lowest_aer
from headscope.alignment.eflomal import eflomal_links, find_program
from headscope.alignment.gradient import gradient_links
from headscope.alignment.link_files import read_links, write_links
from headscope.alignment.linking import link
from headscope.alignment.passes import Linker, check_model, link_part, survey
from headscope.alignment.prompt_linking import link_prompts
from headscope.alignment.symmetrise import SYMMETRISATIONS
from headscope.alignment.tables import MEASURES, error_tables, link_scores, mean_norms
from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.lens.tokens.prompts import Prompt
from headscope.progress import Progress, Silent
from headscope.statistics.alignment.alignment_errors import aligning_sites
from headscope.study import Run
from headscope.study.results.result import Result
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus, Document
from headscope.text.links import Links, Pair, flipped

SURVEYED = 500  # pairs that average norms are taken from, where there are no gold links


@dataclass(frozen=True)
class _Settings:
    """What changes the links: the keywords of `align`, which says what they are."""

    layer: int | None
    head: int | None
    measure: str
    setting: str
    by: str
    by_head: bool
    symmetrise: str
    prompt: str | None
    gradient: int
    eflomal: bool

    def __post_init__(self) -> None:
        if self.by not in RULES:
            raise InputError(f"A layer or head is chosen by {' or '.join(RULES)}, not by {self.by!r}.")
        if self.head is not None and self.layer is None:
            raise InputError(f"Head {self.head} of which layer? Give --layer too.")
        if self.symmetrise not in SYMMETRISATIONS:
            raise InputError(f"Two directions are joined by {', '.join(SYMMETRISATIONS)}, not by {self.symmetrise!r}.")
        if self.measure not in MEASURES:
            raise InputError(f"Words are aligned by {' or '.join(MEASURES)}, not by {self.measure!r}.")
        if self.prompt is not None:
            Prompt(self.prompt)
            if self.layer is None and self.by == "norm":
                raise InputError(
                    "In a prompt the highest norm says nothing of two languages: give --layer, or --by aer with --gold."
                )


@dataclass(frozen=True)
class Direction:
    """A model and the attention of it that is read; `reverse` if it translates from the target to the source."""

    lens: Lens
    choice: Choice
    reverse: bool = False
    prompt: Prompt | None = None

    def link(self, documents: Sequence[Document], batch_size: int) -> list[frozenset[Pair]]:
        """Links from the source to the target, either way."""
        if self.prompt is not None:
            return link_prompts(self.lens, documents, self.choice, self.prompt, batch_size)
        if not self.reverse:
            return link(self.lens, documents, self.choice, batch_size)
        found = link(self.lens, [flip(document) for document in documents], self.choice, batch_size)
        return [flipped(links) for links in found]


def align(
    lens: Lens,
    corpus: Corpus,
    *,
    out: str | Path,
    layer: int | None = None,
    head: int | None = None,
    measure: str = "norm",
    setting: str = "AWI",
    by: str = "norm",
    by_head: bool = False,
    reverse: Lens | None = None,
    symmetrise: str = "grow-diag-final-and",
    prompt: str | None = None,
    gradient: int = 0,
    eflomal: bool = False,
    batch_size: int = 16,
    progress: Progress | None = None,
) -> Run:
    """Choose an attention and write its links in the run directory `out`; run it again to go on after an interruption.

    `corpus` has documents with `words` and `target_words`, and gold links (`with_gold`) where there are some. `layer`, or
    `layer` and `head`, is read by `measure` (norm or weight) in a `setting` (AWI or AWO); without them a layer is chosen, or
    with `by_head` a head, `by` the highest average norm ("norm", the paper's own rule) or the lowest error rate ("aer").

    `reverse` is a model from the target to the source: both directions are joined, as `symmetrise` says. `prompt` is for a
    decoder-only model: a template with {source} and {target}. To compare with: by `gradient` noisy copies gradients align
    as well (Ding et al., 2019), and by `eflomal` the statistical aligner, where it is installed.
    """
    chosen = _Settings(
        layer=layer,
        head=head,
        measure=measure,
        setting=setting,
        by=by,
        by_head=by_head,
        symmetrise=symmetrise,
        prompt=prompt,
        gradient=gradient,
        eflomal=eflomal,
    )
    other = None if reverse is None else reverse.source.model
    about = {**asdict(chosen), "reverse": other, "corpus": corpus.fingerprint()}
    workspace = Workspace("align", Path(out), lens, about, progress or Silent())
    gold = has_gold(corpus)
    for model in filter(None, (lens, reverse)):
        check_model(model, prompt)
        _check_choice(chosen, model, gold)
    workspace.begin()
    tables = _tables(workspace, lens, corpus, batch_size, prompt=prompt)
    for name, title in TITLES.items():
        if name in tables:
            workspace.add(Result(name, title, tables[name]))
    directions = [Direction(lens, choose(chosen, tables), prompt=None if prompt is None else Prompt(prompt))]
    if reverse is not None:
        there = _tables(workspace, reverse, corpus, batch_size, reverse=True)
        directions.append(Direction(reverse, choose(chosen, there), reverse=True))
    written = _write_links(workspace, corpus, directions, symmetrise, batch_size)
    written += _write_others(workspace, corpus, lens, chosen)
    if gold:
        found = {path.stem: read_links(path, format="pharaoh") for path in written}
        table = link_scores(found, [document.alignment for document in corpus])
        workspace.add(Result("align_scores", "The links that were written, against the gold links", table))
    said = [f"`{one.lens.name}`: {one.choice.label}; {one.choice.why}." for one in directions]
    return workspace.finish("Word alignments", [*said, "`links.txt` has a line for each pair: source-target, both from 0."])


TITLES = {
    "aer_layers": "Error rates by layer: its heads together",
    "aer_heads": "Error rates by head",
    "mean_norms": "Average norm by head",
}


def flip(document: Document) -> Document:
    """The pair the other way round."""
    gold = None if document.alignment is None else document.alignment.flipped()
    return replace(document, words=document.target_words, target_words=document.words, alignment=gold)


def _tables(
    workspace: Workspace, lens: Lens, corpus: Corpus, batch_size: int, reverse: bool = False, prompt: str | None = None
) -> dict[str, pd.DataFrame]:
    """aer_layers and aer_heads where there are gold links, mean_norms in any case: of some pairs, without gold links."""
    gold = has_gold(corpus)
    some = corpus if gold else corpus.take(SURVEYED)
    if reverse:
        some = Corpus.from_documents([flip(document) for document in some])
    part = "survey-reverse" if reverse else "survey"
    counted = survey(workspace, part, some, lens, gold=gold, batch_size=batch_size, prompt=prompt)
    return {"mean_norms": mean_norms(counted), **(error_tables(counted) if gold else {})}


def has_gold(corpus: Corpus) -> bool:
    """Whether its pairs have gold links."""
    for document in corpus:
        return document.alignment is not None
    raise InputError("There are no sentence pairs: there is nothing to align.")


def choose(settings: _Settings, tables: dict[str, pd.DataFrame]) -> Choice:
    """The attention that the links are read from."""
    if settings.layer is not None:
        return Choice(settings.layer, settings.head, settings.measure, settings.setting)
    if settings.by == "norm":
        means = tables["mean_norms"]
        return highest_norm(means, heads=settings.by_head, measure=settings.measure, setting=settings.setting)
    return lowest_aer(tables["aer_heads" if settings.by_head else "aer_layers"], column="aer_half_0")


def _check_choice(settings: _Settings, lens: Lens, gold: bool) -> None:
    """What is asked for can be had: said before anything is counted."""
    if settings.eflomal:
        find_program()
    layer, head = settings.layer, settings.head
    if layer is None:
        if settings.by == "aer" and not gold:
            raise InputError("The best layer by AER cannot be told without gold links: give --gold, or choose --by norm.")
        return
    sites = {site.layer: site for site in aligning_sites(lens.sites)}
    if layer not in sites:
        raise InputError(f"There is no attention to align by in layer {layer}; choose one of {min(sites)} to {max(sites)}.")
    if head is not None and not 0 <= head < sites[layer].heads:
        raise InputError(f"There is no head {head} in layer {layer}; choose one of 0 to {sites[layer].heads - 1}.")


def _write_links(
    workspace: Workspace, corpus: Corpus, directions: Sequence[Direction], way: str, batch_size: int
) -> list[Path]:
    """links.txt; of two directions joined, with each one's own in forward.txt and reverse.txt."""
    names = ["links"] if len(directions) == 1 else ["forward", "reverse"]
    paths = [workspace.folder / f"{name}.txt" for name in names]
    for direction, path in zip(directions, paths, strict=True):
        write_links(path, link_part(workspace, path.stem, corpus, partial(direction.link, batch_size=batch_size)))
    if len(directions) == 1:
        return paths
    joined = workspace.folder / "links.txt"
    both = zip(*(read_links(path, format="pharaoh") for path in paths), strict=True)
    write_links(joined, (Links.of(SYMMETRISATIONS[way](one.sure, other.sure)) for one, other in both))
    return [joined, *paths]


def _write_others(workspace: Workspace, corpus: Corpus, lens: Lens, settings: _Settings) -> list[Path]:
    """gradient.txt and eflomal.txt, where they are asked for."""
    ways: dict[str, Linker] = {}
    if settings.gradient:
        ways["gradient"] = partial(gradient_links, lens, samples=settings.gradient)
    if settings.eflomal:
        ways["eflomal"] = eflomal_links
    paths = [workspace.folder / f"{name}.txt" for name in ways]
    for path, (name, work) in zip(paths, ways.items(), strict=True):
        write_links(path, link_part(workspace, name, corpus, work, at_once=name == "eflomal"))  # which learns from all pairs
    return paths
