"""Files of links with their scores: Pharaoh with `0-3:0.8125` for what is made in parts, and a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from headscope.files import write_whole
from headscope.remote import as_path
from headscope.text import Document
from headscope.text.links import Pair

COLUMNS = ("line", "source", "target", "score", "source_word", "target_word")


def write_scored(path: str | Path, links: Iterable[Mapping[Pair, float]]) -> None:
    """A line for each pair, which `read_links` reads too; whole or not at all."""
    lines = (" ".join(f"{source}-{target}:{score:.4f}" for (source, target), score in sorted(one.items())) for one in links)
    _write_lines(as_path(path), lines)


def read_scored(path: str | Path) -> Iterator[dict[Pair, float]]:
    """What `write_scored` wrote."""
    with as_path(path).open(encoding="utf-8") as file:
        for line in file:
            yield dict(map(_scored, line.split()))


def write_score_table(path: str | Path, links: Iterable[Mapping[Pair, float]], documents: Iterable[Document]) -> None:
    """A row for each link, columns parted by tabs: the pair's line in links.txt, from 1, words from 0, score, both words."""

    def rows() -> Iterator[str]:
        yield "\t".join(COLUMNS)
        for line, (document, scored) in enumerate(zip(documents, links, strict=True), 1):
            sources, targets = document.words or (), document.target_words or ()
            for (source, target), score in sorted(scored.items()):
                yield f"{line}\t{source}\t{target}\t{score:.4f}\t{sources[source]}\t{targets[target]}"

    _write_lines(as_path(path), rows())


def _scored(written: str) -> tuple[Pair, float]:
    """
    >>> _scored("0-3:0.8125")
    ((0, 3), 0.8125)
    """
    pair, _, score = written.partition(":")
    source, _, target = pair.partition("-")
    return (int(source), int(target)), float(score or "nan")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    def write(unfinished: Path) -> None:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)

    write_whole(path, write)
