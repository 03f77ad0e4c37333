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
from headscope.alignment.eflomal import eflomal_links
from headscope.alignment.formats import read_links, write_links
from headscope.alignment.gradient import gradient_links
from headscope.alignment.linking import link, link_corpus
from headscope.alignment.prompts import Prompt, link_prompts
from headscope.alignment.symmetrise import SYMMETRISATIONS
from headscope.alignment.tables import MEASURES, alignment_statistics, error_tables, link_scores, mean_norms
from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.papers.result import Result
from headscope.papers.workspace import Workspace, first
from headscope.probes.progress import Progress, Silent
from headscope.statistics.alignment_errors import aligning_sites
from headscope.study import Run
from headscope.text import Corpus, Document
from headscope.text.links import Links, Pair, flipped

SURVEYED = 500  # pairs that average norms are taken from, where there are no gold links
SHARD = 16


@dataclass(frozen=True)
class Settings:
    """What changes the links. A layer or head is named, or chosen by a rule: `norm` (the paper's own), or `aer`."""

    layer: int | None = None
    head: int | None = None
    measure: str = "norm"
    setting: str = "AWI"
    by: str = "norm"
    heads: bool = False  # whether a rule chooses a single head rather than a layer
    symmetrise: str = "grow-diag-final-and"  # of two directions, where there is a reverse model
    prompt: str | None = None  # for a decoder-only model: a template with {source} and {target}
    gradient: int = 0  # by so many noisy copies gradients align as well, to compare with (Ding et al. 2019)
    eflomal: bool = False  # and the statistical aligner eflomal, where it is installed

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
    out: str | Path,
    settings: Settings | None = None,
    *,
    reverse: Lens | None = None,
    batch_size: int = 16,
    progress: Progress | None = None,
) -> Run:
    """Choose an attention and write its links; run it again to go on after an interruption.

    `corpus` has documents with `words` and `target_words`, and gold links (`alignment`) where there are some. `reverse` is a
    model of the other direction, from the target to the source.
    """
    chosen = settings or Settings()
    about = {**asdict(chosen), "reverse": None if reverse is None else reverse.name, "corpus": corpus.fingerprint()}
    workspace = Workspace("align", Path(out), lens, about, progress or Silent())
    for model in filter(None, (lens, reverse)):
        check_model(model, chosen.prompt)
    workspace.begin()
    gold = next(iter(corpus)).alignment is not None
    tables = survey(workspace, lens, corpus, gold, batch_size, prompt=chosen.prompt)
    for name, title in TITLES.items():
        if name in tables:
            workspace.add(Result(name, title, tables[name]))
    prompt = None if chosen.prompt is None else Prompt(chosen.prompt)
    directions = [Direction(lens, choose(chosen, tables, lens), prompt=prompt)]
    if reverse is not None:
        there = survey(workspace, reverse, corpus, gold, batch_size, reverse=True)
        directions.append(Direction(reverse, choose(chosen, there, reverse), reverse=True))
    written = _write_links(workspace, corpus, directions, chosen.symmetrise, batch_size)
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


def check_model(lens: Lens, prompt: str | None = None) -> None:
    cross = any(site.kind == "cross" for site in lens.sites)
    if not cross and prompt is None:
        raise InputError(
            f"{lens.name} has no cross attention to align words by: give an encoder-decoder, or --prompt for a decoder."
        )
    if cross and prompt is not None:
        raise InputError(f"{lens.name} is an encoder-decoder, which needs no prompt: leave --prompt out.")


def flip(document: Document) -> Document:
    """The pair the other way round."""
    gold = None if document.alignment is None else document.alignment.flipped()
    return replace(document, words=document.target_words, target_words=document.words, alignment=gold)


def survey(
    workspace: Workspace,
    lens: Lens,
    corpus: Corpus,
    gold: bool,
    batch_size: int,
    *,
    reverse: bool = False,
    prompt: str | None = None,
) -> dict[str, pd.DataFrame]:
    """aer_layers and aer_heads where there are gold links, mean_norms in any case: of some pairs, without gold links."""
    some = corpus if gold else first(corpus, SURVEYED)
    if reverse:
        some = Corpus.from_documents([flip(document) for document in some])
    pairs = sum(1 for _ in some)
    part = workspace.study(
        "survey-reverse" if reverse else "survey",
        some,
        alignment_statistics(gold),
        lens=lens,
        batch_size=batch_size,
        shard_size=max(1, min(SHARD, pairs // 100)),  # few pairs: every one is resampled by itself
        by_word=True,
        prompt=prompt,
    )
    return {"mean_norms": mean_norms(part), **(error_tables(part) if gold else {})}


def choose(settings: Settings, tables: dict[str, pd.DataFrame], lens: Lens) -> Choice:
    """The attention that the links are read from."""
    if settings.layer is not None:
        _check_named(settings.layer, settings.head, lens)
        return Choice(settings.layer, settings.head, settings.measure, settings.setting)
    if settings.by == "norm":
        means = tables["mean_norms"]
        return highest_norm(means, heads=settings.heads, measure=settings.measure, setting=settings.setting)
    if "aer_layers" not in tables:
        raise InputError("The best layer by AER cannot be told without gold links: give --gold, or choose --by norm.")
    return lowest_aer(tables["aer_heads" if settings.heads else "aer_layers"], column="aer_half_0")


def _check_named(layer: int, head: int | None, lens: Lens) -> None:
    sites = {site.layer: site for site in aligning_sites(lens.sites)}
    if layer not in sites:
        raise InputError(f"There is no attention to align by in layer {layer}; choose one of {min(sites)} to {max(sites)}.")
    if head is not None and not 0 <= head < sites[layer].heads:
        raise InputError(f"There is no head {head} in layer {layer}; choose one of 0 to {sites[layer].heads - 1}.")


def _write_links(
    workspace: Workspace, corpus: Corpus, directions: Sequence[Direction], way: str, batch_size: int
) -> list[Path]:
    """links.txt; of two directions joined, with each one's own in forward.txt and reverse.txt."""
    pairs = sum(1 for _ in corpus)
    names = ["links"] if len(directions) == 1 else ["forward", "reverse"]
    paths = [workspace.folder / f"{name}.txt" for name in names]
    for direction, path in zip(directions, paths, strict=True):
        bar = workspace.progress.part(path.stem)
        bar.begin(pairs, 0)
        work = partial(direction.link, batch_size=batch_size)
        found = link_corpus(work, corpus, workspace.folder / "parts" / path.stem, bar.advance)
        write_links(path, map(Links.of, found))
    if len(directions) == 1:
        return paths
    joined = workspace.folder / "links.txt"
    both = zip(*(read_links(path, format="pharaoh") for path in paths), strict=True)
    write_links(joined, (Links.of(SYMMETRISATIONS[way](one.sure, other.sure)) for one, other in both))
    return [joined, *paths]


def _write_others(workspace: Workspace, corpus: Corpus, lens: Lens, settings: Settings) -> list[Path]:
    """gradient.txt and eflomal.txt, where they are asked for."""
    paths = []
    if settings.gradient:
        bar = workspace.progress.part("gradient")
        bar.begin(sum(1 for _ in corpus), 0)
        work = partial(gradient_links, lens, samples=settings.gradient)
        found = link_corpus(work, corpus, workspace.folder / "parts" / "gradient", bar.advance)
        paths.append(workspace.folder / "gradient.txt")
        write_links(paths[-1], map(Links.of, found))
    if settings.eflomal:  # it learns from all pairs at once
        paths.append(workspace.folder / "eflomal.txt")
        write_links(paths[-1], map(Links.of, eflomal_links(list(corpus))))
    return paths
