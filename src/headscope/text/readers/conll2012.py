"""CoNLL-2012 and its kin: documents between `#begin document` and `#end document`, a word a line, its coreference last.

CoNLL-2012 itself has document, part, number and word first. SemEval-2010 and OntoGUM have the number and the word; OntoGUM
writes `# begin document`, and may leave the end out. Two columns are the word and its coreference.
"""

import re
from collections.abc import Iterable, Iterator

from headscope.text.document import Document
from headscope.text.readers.brackets import Brackets
from headscope.text.readers.line_blocks import LineBlock, Result, by_blank_lines, parse_each
from headscope.text.readers.lines import Line

BEGIN, END = "#begin document", "#end document"  # OntoGUM has a space behind the #
FEWEST_COLUMNS = 5  # document, part, number, word, ..., coreference
_BRACKET = re.compile(r"(\()?([^()\s]+)(\))?")
_NOTHING = ("", "-", "_", "*")
_ORDINALS = {0: "first", 1: "second", 3: "fourth"}


def read_conll2012(lines: Iterable[Line], path: str) -> Iterator[Result]:
    """Words, sentences, mentions, and fine tags where the fifth of twelve or more columns has them."""
    return parse_each(_by_document(lines, path), _parse)


def _by_document(lines: Iterable[Line], path: str) -> Iterator[LineBlock]:
    """From one begin to its end; what stands outside is a block too, and an error when it is parsed."""
    block: list[Line] = []
    for line in lines:
        if is_begin(line.text) and block:
            yield LineBlock(path, block)
            block = []
        if block or not line.blank:
            block.append(line)
        if _after(END, line.text) is not None:
            yield LineBlock(path, block)
            block = []
    if block:
        yield LineBlock(path, block)


def _parse(block: LineBlock) -> Document:
    first, last = block.lines[0], block.lines[-1]
    if not is_begin(first.text):
        raise block.error(first, f"this stands outside of any document: {BEGIN!r} must come first")
    is_ended = _after(END, last.text) is not None
    if not is_ended and first.text.startswith(BEGIN):
        raise block.error(last, f"the document that begins in line {first.number} has no {END!r}: is the file cut off?")
    words: list[str] = []
    fine_tags: list[str] = []
    sentences: list[tuple[int, int]] = []
    brackets = Brackets(block)
    for sentence in by_blank_lines(block.lines[1 : -1 if is_ended else None], block.path):
        start = len(words)
        for line, columns in _rows(sentence):
            words.append(columns[_word_column(columns)])
            fine_tags.append(columns[4] if len(columns) >= 12 else "")
            _read_brackets(columns[-1].strip(), len(words) - 1, line, brackets)
        sentences.append((start, len(words)))
    return Document(
        words=words,
        name=_after(BEGIN, first.text) or block.name,
        fine_tags=None if all(tag in _NOTHING for tag in fine_tags) else fine_tags,
        sentences=sentences,
        mentions=brackets.mentions(),
    )


def _rows(sentence: LineBlock) -> Iterator[tuple[Line, list[str]]]:
    """The columns of each word: parted by tabs (then one may be empty) or else by spaces."""
    expected = None
    for line in sentence.lines:
        columns = line.text.split("\t") if "\t" in line.text else [part for part in line.text.split(" ") if part]
        if len(columns) < FEWEST_COLUMNS and _word_column(columns) == 3:
            reason = f"a word has {FEWEST_COLUMNS} columns or more, this line has {len(columns)} and no number comes first"
            raise sentence.error(line, reason)
        if expected is not None and len(columns) != expected:
            raise sentence.error(line, f"this word has {len(columns)} columns, the first of its sentence {expected}")
        if not columns[_word_column(columns)].strip():
            raise sentence.error(line, f"the {_ORDINALS[_word_column(columns)]} column, the word, is empty")
        expected = len(columns)
        yield line, columns


def is_begin(line: str) -> bool:
    """Whether a document begins with this line."""
    return _after(BEGIN, line) is not None


def _after(mark: str, line: str) -> str | None:
    """
    >>> [_after(BEGIN, line) for line in ("#begin document (a); part 0", "# begin document GUM_news", "#end document")]
    ['(a); part 0', 'GUM_news', None]
    """
    written = "#" + line.removeprefix("#").lstrip(" ") if line.startswith("#") else line
    return written.removeprefix(mark).strip() if written.startswith(mark) else None


def _word_column(columns: list[str]) -> int:
    """
    >>> [_word_column(row.split()) for row in ("nw/a 0 0 Ann NNP (0)", "0 Ann (0)", "1 Ann Ann NNP 2 (0)", "Ann (0)")]
    [3, 1, 1, 0]
    """
    number_first = columns[0].isdecimal() and not (len(columns) >= FEWEST_COLUMNS and columns[2].isdecimal())
    return 1 if number_first and len(columns) > 2 else 0 if len(columns) == 2 else 3


def _read_brackets(column: str, word: int, line: Line, brackets: Brackets) -> None:
    """`(3` opens cluster 3, `3)` closes it, `(3)` does both; `|` parts several, or nothing, as in OntoGUM's `(3(4)`."""
    if column in _NOTHING:
        return
    for part in column.split("|"):
        found = list(_BRACKET.finditer(part))
        if not part or "".join(match[0] for match in found) != part or not all(match[1] or match[3] for match in found):
            reason = f"the last column is {column!r}, which is no coreference such as (3, 3) or (3)|(5"
            raise brackets.block.error(line, reason)
        for match in found:
            brackets.add(match[2], match[1], match[3], word, word + 1, line)
