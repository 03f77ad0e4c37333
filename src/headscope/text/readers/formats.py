"""The formats that can be read: for each its name, its reader and its settings. A new one is a line here."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headscope.text.readers.conll2012 import read_conll2012
from headscope.text.readers.conllu import UNITS, has_coreference, read_conllu
from headscope.text.readers.jsonl import read_jsonl
from headscope.text.readers.line_blocks import Result
from headscope.text.readers.lines import Line, numbered_lines
from headscope.text.readers.litbank import read_litbank, text_beside
from headscope.text.readers.parquet import read_parquet
from headscope.text.readers.plain import read_lines, read_paragraph_pairs, read_paragraphs
from headscope.text.readers.text_form import form_of_file, one_a_line


@dataclass(frozen=True)
class Format:
    """A way to read a file; `read(path, **settings)` yields its documents, and what is wrong where one is none."""

    about: str
    read: Callable[..., Iterator[Result]]
    units: tuple[str, ...] = ()  # what a document may be; the first is the default
    layers: tuple[str, ...] = ()  # what a document may have on its words, of what some readers cannot do without
    has_columns: bool = False
    by_place: bool = False  # `read(path, lines=...)` reads from any document's first line on; names say which line that is
    is_plain: bool = False  # text without anything on it, which may be WikiText
    files: Callable[[Path], list[Path]] = lambda path: [path]  # what belongs to a path


def _by_lines(reader: Callable[..., Iterator[Result]]) -> Callable[..., Iterator[Result]]:
    def read(path: Path, *, lines: Iterable[Line] | None = None, **settings: Any) -> Iterator[Result]:
        return reader(numbered_lines(path) if lines is None else lines, str(path), **settings)

    return read


def _read_conllu(path: Path, *, unit: str = UNITS[0]) -> Iterator[Result]:
    return read_conllu(numbered_lines(path), str(path), unit=unit, coreference=has_coreference(path))


def _plain(about: str, reader: Callable[..., Iterator[Result]]) -> Format:
    def read(path: Path, *, lines: Iterable[Line] | None = None, keep_marks: bool = False) -> Iterator[Result]:
        given, form = numbered_lines(path) if lines is None else lines, form_of_file(path)
        return reader(one_a_line(given, form, keep_marks=keep_marks) if form else given, str(path))

    return Format(about, read, by_place=True, is_plain=True)


FORMATS = {
    "lines": _plain("plain text, a document a line", read_lines),
    "paragraphs": _plain("plain text, a document a paragraph", read_paragraphs),
    "paragraph-pairs": _plain("plain text, two consecutive paragraphs a document", read_paragraph_pairs),
    "jsonl": Format("JSON Lines, an object a row", _by_lines(read_jsonl), has_columns=True, by_place=True),
    "parquet": Format("Parquet, a document a row", read_parquet, has_columns=True),
    "conllu": Format("CoNLL-U, a treebank", _read_conllu, units=UNITS, layers=("tags", "parents", "relations", "mentions")),
    "conll2012": Format("CoNLL-2012, coreference", _by_lines(read_conll2012), units=("document",), layers=("mentions",)),
    "litbank": Format(
        "LitBank's X.ann, with X.txt beside it",
        read_litbank,
        units=("document",),
        layers=("mentions",),
        files=lambda path: [path, text_beside(path)],
    ),
}
