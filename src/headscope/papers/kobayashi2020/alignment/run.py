"""Section 5 for one or more translation models: a pass of forced decoding each, other aligners where asked, results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from headscope.alignment.eflomal import eflomal_links, find_program
from headscope.alignment.gradient import gradient_links
from headscope.alignment.passes import Linker, link_part
from headscope.alignment.tables import link_scores
from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.papers.kobayashi2020.alignment.claims import claims
from headscope.papers.kobayashi2020.alignment.matrices import examples
from headscope.papers.kobayashi2020.alignment.results import Aligner, Alignments, aligner
from headscope.study.results.result import Claim
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus, Document
from headscope.text.links import Links


@dataclass(frozen=True)
class Pairs:
    """A parallel text with gold links (alignment.gold.with_gold), and what is made of it."""

    corpus: Corpus
    also: Iterable[Lens] = ()  # further models, seeds or checkpoints, opened one after another: means and deviations
    sentences: Sequence[int] = ()  # those that figures 7 and 17 to 22 show, from 1; by default one of 8 to 14 words
    gradient: int = 0  # SmoothGrad beside, with so many noisy copies: some hundred times as slow as all the rest
    eflomal: bool = False  # the statistical aligner beside, if it is installed


def align(workspace: Workspace, pairs: Pairs, batch_size: int) -> list[Claim]:
    """Make the results of section 5, and say what the paper claims there."""
    documents = list(pairs.corpus)
    if any(document.alignment is None for document in documents):
        raise InputError("The sentence pairs have no gold links to compare alignments with: give --gold FILE.")
    examples(documents, pairs.sentences)  # a wrong number, or a program that is not there, is said before all the counting
    if pairs.eflomal:
        find_program()
    aligners: list[Aligner] = []
    for lens in _every(workspace.lens, pairs.also):
        suffix = f"-{len(aligners)}" if aligners else ""
        one = aligner(workspace, lens, pairs.corpus, batch_size, f"alignment{suffix}")
        systems: dict[str, tuple[str, Linker]] = {}
        if pairs.gradient:
            systems["SmoothGrad"] = (
                f"gradient-{pairs.gradient}{suffix}",
                partial(gradient_links, lens, samples=pairs.gradient, batch_size=batch_size),
            )
        if pairs.eflomal and not aligners:
            systems["eflomal"] = ("eflomal", eflomal_links)
        name = one.name if all(one.name != other.name for other in aligners) else f"{one.name} ({len(aligners) + 1})"
        aligners.append(replace(one, name=name, others=_others(workspace, pairs.corpus, documents, systems)))
    made = Alignments(aligners, workspace.lens, documents, pairs.sentences)
    for make in (made.table3, made.figure16, made.lines, made.figure8, made.figure7, made.figures17):
        for result in make():
            workspace.add(result)
    return claims(made)


def _every(lens: Lens, also: Iterable[Lens]) -> Iterable[Lens]:
    yield lens
    yield from also


def _others(
    workspace: Workspace, corpus: Corpus, documents: Sequence[Document], systems: dict[str, tuple[str, Linker]]
) -> pd.DataFrame:
    """One row for each aligner that does not read attention: system, aer, low, high. Its links are kept in parts/."""
    found: dict[str, list[Links]] = {}
    for system, (part, work) in systems.items():
        found[system] = list(link_part(workspace, part, corpus, work, at_once=part == "eflomal"))
    if not found:
        return pd.DataFrame()
    scored = link_scores({name: iter(links) for name, links in found.items()}, (one.alignment for one in documents))
    return scored.rename(columns={"aer_low": "low", "aer_high": "high"})[["system", "aer", "low", "high"]]
