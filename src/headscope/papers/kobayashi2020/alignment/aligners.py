"""The aligners that section 5 compares: a pass of forced decoding for each model, and others beside where asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from headscope.alignment.eflomal import eflomal_links, find_program
from headscope.alignment.gradient import gradient_links
from headscope.alignment.parts import link_part, link_whole
from headscope.alignment.tables import error_tables, link_scores, mean_norms, survey
from headscope.errors import InputError
from headscope.later import pd
from headscope.lens.lens import Lens
from headscope.papers.kobayashi2020.alignment.matrices import examples
from headscope.papers.kobayashi2020.settings import Data
from headscope.study.results.workspace import Workspace
from headscope.study.tables import save_table
from headscope.text import Corpus
from headscope.text.links import Links


@dataclass(frozen=True)
class Aligner:
    """One model (or seed, or checkpoint) of those that are compared: its error rates and average norms."""

    name: str
    layers: pd.DataFrame  # aer_layers
    heads: pd.DataFrame  # aer_heads
    norms: pd.DataFrame  # layer, head, mean_score
    # system, aer, low, high: aligners that do not read attention
    others: pd.DataFrame = field(default_factory=lambda: pd.DataFrame())


def aligners_of(workspace: Workspace, data: Data, batch_size: int) -> list[Aligner]:
    """One for each model: the run's own first."""
    pairs = data.parallel
    assert pairs is not None
    documents = list(pairs)
    if any(document.alignment is None for document in documents):
        raise InputError("The sentence pairs have no gold links to compare alignments with: give --gold FILE.")
    examples(documents, data.sentences)  # a wrong number, or a program that is not there, is said before all the counting
    if data.eflomal:
        find_program()
    aligners: list[Aligner] = []
    for lens in _every(workspace.lens, data):
        number = f"-{len(aligners)}" if aligners else ""
        others: dict[str, Callable[[], Iterable[Links]]] = {}
        if data.gradient:
            linker, part = (
                partial(gradient_links, samples=data.gradient, batch_size=batch_size),
                f"gradient-{data.gradient}{number}",
            )
            others["SmoothGrad"] = partial(link_part, workspace, part, pairs, lens, linker)
        if data.eflomal and not aligners:
            others["eflomal"] = partial(link_whole, workspace, "eflomal", pairs, eflomal_links)
        known = {one.name for one in aligners}
        model = lens.source.model
        name = model if model not in known else f"{model} ({len(aligners) + 1})"
        tables = _counted(workspace, lens, pairs, batch_size, f"alignment{number}")
        aligners.append(Aligner(name, *tables, _scored(pairs, others)))
    return aligners


def _every(lens: Lens, data: Data) -> Iterator[Lens]:
    """One model after another, each closed before the next: only one more is in memory at a time."""
    yield lens
    for source in data.also:
        with source.open() as other:
            yield other


def _counted(
    workspace: Workspace, lens: Lens, pairs: Corpus, batch_size: int, part: str
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """What every layer and head would give: aer_layers, aer_heads, and the average norms."""
    if not any(site.kind == "cross" for site in lens.sites):
        raise InputError(f"{lens.name} has no cross attention to align words by: give an encoder-decoder with --parallel.")
    counted = survey(workspace, part, pairs, lens, gold=True, batch_size=batch_size)
    made = error_tables(counted)
    if lens is workspace.lens:
        workspace.copy_tables(counted)
        for name, table in made.items():
            save_table(workspace.folder, name, table)
    return made["aer_layers"], made["aer_heads"], mean_norms(counted)


def _scored(pairs: Corpus, systems: Mapping[str, Callable[[], Iterable[Links]]]) -> pd.DataFrame:
    """One row for each aligner that does not read attention: system, aer, low, high. Its links are kept in parts/."""
    if not systems:
        return pd.DataFrame()
    found = {system: list(links()) for system, links in systems.items()}
    scored = link_scores(found, (document.alignment for document in pairs))
    return scored.rename(columns={"aer_low": "low", "aer_high": "high"})[["system", "aer", "low", "high"]]
