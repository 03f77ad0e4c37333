"""The passes over a parallel corpus in a run's folder: a survey of all layers and heads, and links in one way or another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from headscope.alignment.linking import link_corpus
from headscope.alignment.tables import alignment_statistics
from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.lens.tokens.encoder import BY_WORD
from headscope.lens.tokens.prompts import Prompt
from headscope.study import Run
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus, Document
from headscope.text.links import Links, Pair

SURVEY_SHARD = 16

Linker = Callable[[Sequence[Document]], list[frozenset[Pair]]]


def check_model(lens: Lens, prompt: str | None = None) -> None:
    cross = any(site.kind == "cross" for site in lens.sites)
    if not cross and prompt is None:
        raise InputError(
            f"{lens.name} has no cross attention to align words by: give an encoder-decoder, or --prompt for a decoder."
        )
    if cross and prompt is not None:
        raise InputError(f"{lens.name} is an encoder-decoder, which needs no prompt: leave --prompt out.")


def survey(
    workspace: Workspace,
    part: str,
    corpus: Corpus,
    lens: Lens,
    *,
    gold: bool,
    batch_size: int,
    prompt: str | None = None,
) -> Run:
    """What every layer and head would give, in parts/`part`: average norms, and with gold links error rates."""
    pairs = sum(1 for _ in corpus)
    return workspace.study(
        part,
        corpus,
        alignment_statistics(gold),
        lens=lens,
        batch_size=batch_size,
        shard_size=max(1, min(SURVEY_SHARD, pairs // 100)),  # few pairs: every one is resampled by itself
        encoding=BY_WORD if prompt is None else Prompt(prompt),
    )


def link_part(workspace: Workspace, part: str, corpus: Corpus, work: Linker, *, at_once: bool = False) -> Iterator[Links]:
    """The links of every document in order, kept in parts/`part`; `at_once` for work that learns from all of them."""
    pairs = sum(1 for _ in corpus)
    bar = workspace.progress.part(part)
    bar.begin(pairs, 0)
    found = link_corpus(work, corpus, workspace.folder / "parts" / part, bar.advance, pairs if at_once else None)
    return map(Links.of, found)
