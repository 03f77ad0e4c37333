"""The files of links of a run: links.txt, each direction's own, and the table of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from headscope.alignment.joining import PRODUCT, mean_scores, product_links
from headscope.alignment.link_files import write_links
from headscope.alignment.parts import Parts
from headscope.alignment.score_files import write_score_table
from headscope.alignment.symmetrise import SYMMETRISATIONS
from headscope.text import Corpus
from headscope.text.links import Links, Pair

Way = Callable[[str], Parts]  # the links of all pairs, kept in a part of that name
SCORES = "scores.tsv"


def write_run(folder: Path, parts: Mapping[str, Parts], symmetrise: str, texts: Corpus | None = None) -> list[Path]:
    """links.txt, and of two directions joined also each one's own; then what they are compared with.

    `texts` are given where the scores of the links in links.txt are to be written too.
    """
    both = "reverse" in parts
    paths = [folder / f"{'links' if name == 'forward' and not both else name}.txt" for name in parts]
    for path, part in zip(paths, parts.values(), strict=True):
        write_links(path, part)
    if both:
        joined = folder / "links.txt"
        write_links(joined, (Links.of(links) for links in _joined(parts, symmetrise)))
        paths = [joined, *paths]
    if texts is not None:
        write_score_table(folder / SCORES, scored(parts, symmetrise), texts)
    return paths


def scored(parts: Mapping[str, Parts], symmetrise: str) -> Iterator[dict[Pair, float]]:
    """The links of links.txt with their scores, pair by pair."""
    if "reverse" in parts:
        return _joined(parts, symmetrise)
    return (one.links for one in parts["forward"].weighed())


def _joined(parts: Mapping[str, Parts], symmetrise: str) -> Iterator[dict[Pair, float]]:
    for one, other in zip(parts["forward"].weighed(), parts["reverse"].weighed(), strict=True):
        if symmetrise == PRODUCT:
            yield product_links(one, other)
        else:
            links = SYMMETRISATIONS[symmetrise](one.links.keys(), other.links.keys())
            yield mean_scores(links, one.links, other.links)
