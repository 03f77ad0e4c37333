"""LitBank's tab-separated form: mentions and clusters in X.ann, the words in X.txt beside it, a sentence a line."""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path

from headscope.text.document import Document
from headscope.text.mention import KINDS, Mention, in_order
from headscope.text.readers.line_blocks import LineBlock, Result, parse_each
from headscope.text.readers.lines import Line, numbered_lines

COLUMNS = {"MENTION": 9, "COREF": 3, "COP": 3, "APPOS": 3}
_NUMBER = re.compile(r"[0-9]{1,9}")


def text_beside(path: Path) -> Path:
    """The text of an .ann file, gzipped or not.

    >>> text_beside(Path("tsv/emma.ann")).as_posix()
    'tsv/emma.txt'
    """
    text = path.with_name(path.name.removesuffix(".gz").removesuffix(".ann") + ".txt")
    packed = text.with_name(text.name + ".gz")
    return packed if packed.exists() and not text.exists() else text


def read_litbank(path: Path) -> Iterator[Result]:
    """One document: words, sentences, and mentions with their kinds and clusters."""
    text = text_beside(path)
    return read_annotation(numbered_lines(path), str(path), numbered_lines(text), str(text))


def read_annotation(rows: Iterable[Line], path: str, text: Iterable[Line], text_path: str) -> Iterator[Result]:
    """COREF rows alone make the clusters; a mention that has only a COP or APPOS row has a cluster of its own.

    So does LitBank's CoNLL form: in "He was the king", "the king" predicates, and refers to nobody.
    """
    annotation, words = LineBlock(path, list(rows)), LineBlock(text_path, list(text))
    if annotation.lines or words.lines:
        yield from parse_each([annotation if annotation.lines else words], lambda _: _parse(annotation, words))


def _parse(annotation: LineBlock, text: LineBlock) -> Document:
    text.check()
    sentences = [[word for word in line.text.split(" ") if word.strip()] for line in text.lines]
    starts = [0, *accumulate(map(len, sentences))]
    words = [word for sentence in sentences for word in sentence]
    clusters: dict[str, str] = {}
    found: dict[str, Mention] = {}
    for line, columns in _rows(annotation):
        if columns[0] == "MENTION":
            if columns[1] in found:
                raise annotation.error(line, f"there is a mention {columns[1]} already")
            found[columns[1]] = _mention(columns, words, starts, line, annotation)
        elif columns[0] == "COREF" and clusters.setdefault(columns[1], columns[2]) != columns[2]:
            raise annotation.error(line, f"the mention {columns[1]} is in two clusters")
    for line, columns in _rows(annotation):
        if columns[1] not in found:
            raise annotation.error(line, f"there is no mention {columns[1]}")
    mentions = [mention._replace(cluster=clusters.get(name, name)) for name, mention in found.items()]
    return Document(
        words=words,
        name=annotation.path,
        sentences=[(start, stop) for start, stop in pairwise(starts) if start < stop],
        mentions=in_order(mentions),
    )


def _rows(annotation: LineBlock) -> Iterator[tuple[Line, list[str]]]:
    for line in annotation.lines:
        if line.blank:
            continue
        columns = line.text.split("\t")
        if columns[0] not in COLUMNS:
            raise annotation.error(line, f"a row begins with one of {', '.join(COLUMNS)}, not with {columns[0][:20]!r}")
        if len(columns) != COLUMNS[columns[0]]:
            expected = f"a {columns[0]} row has {COLUMNS[columns[0]]} columns parted by tabs"
            raise annotation.error(line, f"{expected}, this one {len(columns)}")
        if not all(column.strip() for column in columns[:3]):
            raise annotation.error(line, "one of the first three columns is empty")
        yield line, columns


def _mention(columns: list[str], words: list[str], starts: list[int], line: Line, block: LineBlock) -> Mention:
    """A MENTION row: its name, first sentence and word, last sentence and word (inclusive), text, entity type, kind."""
    _, name, *place, text, _, kind = columns
    if not all(_NUMBER.fullmatch(number) for number in place):
        raise block.error(line, f"the sentences and words of mention {name} are not all numbers")
    first_sentence, first, last_sentence, last = map(int, place)
    if (furthest := max(first_sentence, last_sentence)) >= len(starts) - 1:
        raise block.error(line, f"mention {name} is in sentence {furthest}, the text has {len(starts) - 1}")
    start, stop = starts[first_sentence] + first, starts[last_sentence] + last + 1
    there = " ".join(words[start:stop])
    if there != text:
        different = f"mention {name} is {text!r}, but the text has {there!r} there"
        raise block.error(line, f"{different}: do the two files belong together?")
    if kind not in KINDS:
        raise block.error(line, f"the last column is {kind!r}, not one of {', '.join(KINDS)}")
    return Mention(start, stop, name, kind)
