"""CoNLL-2012: a document from `#begin document` to `#end document`, a word a line, coreference in the last column."""

import re
from collections.abc import Iterable, Iterator

from headscope.text.document import Document
from headscope.text.readers.brackets import Brackets
from headscope.text.readers.line_blocks import LineBlock, Result, by_blank_lines, parse_each
from headscope.text.readers.lines import Line

BEGIN, END = "#begin document", "#end document"
FEWEST_COLUMNS = 5  # document, part, number, word, ..., coreference
_BRACKET = re.compile(r"(\()?([^()|\s]+)(\))?")
_NOTHING = ("", "-", "_", "*")


def read_conll2012(lines: Iterable[Line], path: str) -> Iterator[Result]:
    """Words, sentences, mentions, and fine tags where the fifth of twelve or more columns has them."""
    return parse_each(_by_document(lines, path), _parse)


def _by_document(lines: Iterable[Line], path: str) -> Iterator[LineBlock]:
    """From one begin to its end; what stands outside is a block too, and an error when it is parsed."""
    block: list[Line] = []
    for line in lines:
        if line.text.startswith(BEGIN) and block:
            yield LineBlock(path, block)
            block = []
        if block or not line.blank:
            block.append(line)
        if line.text.startswith(END):
            yield LineBlock(path, block)
            block = []
    if block:
        yield LineBlock(path, block)


def _parse(block: LineBlock) -> Document:
    first, last = block.lines[0], block.lines[-1]
    if not first.text.startswith(BEGIN):
        raise block.error(first, f"this stands outside of any document: {BEGIN!r} must come first")
    if not last.text.startswith(END):
        raise block.error(last, f"the document that begins in line {first.number} has no {END!r}: is the file cut off?")
    words: list[str] = []
    fine_tags: list[str] = []
    sentences: list[tuple[int, int]] = []
    brackets = Brackets(block)
    for sentence in by_blank_lines(block.lines[1:-1], block.path):
        start = len(words)
        for line, columns in _rows(sentence):
            words.append(columns[3])
            fine_tags.append(columns[4] if len(columns) >= 12 else "")
            _read_brackets(columns[-1].strip(), len(words) - 1, line, brackets)
        sentences.append((start, len(words)))
    return Document(
        words=words,
        name=first.text.removeprefix(BEGIN).strip() or block.name,
        fine_tags=None if all(tag in _NOTHING for tag in fine_tags) else fine_tags,
        sentences=sentences,
        mentions=brackets.mentions(),
    )


def _rows(sentence: LineBlock) -> Iterator[tuple[Line, list[str]]]:
    """The columns of each word: parted by tabs (then one may be empty) or else by spaces."""
    expected = None
    for line in sentence.lines:
        columns = line.text.split("\t") if "\t" in line.text else [part for part in line.text.split(" ") if part]
        if len(columns) < FEWEST_COLUMNS:
            raise sentence.error(line, f"a word has {FEWEST_COLUMNS} columns or more, this line has {len(columns)}")
        if expected is not None and len(columns) != expected:
            raise sentence.error(line, f"this word has {len(columns)} columns, the first of its sentence {expected}")
        if not columns[3].strip():
            raise sentence.error(line, "the fourth column, the word, is empty")
        expected = len(columns)
        yield line, columns


def _read_brackets(column: str, word: int, line: Line, brackets: Brackets) -> None:
    """`(3` opens cluster 3, `3)` closes it, `(3)` does both, and `|` parts several."""
    if column in _NOTHING:
        return
    for part in column.split("|"):
        match = _BRACKET.fullmatch(part)
        if match is None or not (match[1] or match[3]):
            reason = f"the last column is {column!r}, which is no coreference such as (3, 3) or (3)|(5"
            raise brackets.block.error(line, reason)
        brackets.add(match[2], match[1], match[3], word, word + 1, line)
