"""One sentence of CoNLL-U: its words, what is written as one, and its tree."""

import re
from typing import NamedTuple

from headscope.text.natural_text import Multiword
from headscope.text.readers.brackets import Brackets
from headscope.text.readers.entities import read_entities
from headscope.text.readers.line_blocks import LineBlock
from headscope.text.readers.lines import Line

_RANGE = re.compile(r"([0-9]{1,6})-([0-9]{1,6})")
_EMPTY_NODE = re.compile(r"[0-9]{1,6}\.[0-9]{1,6}")
_HEAD = re.compile(r"[0-9]{1,6}")


class Row(NamedTuple):
    """The ten columns of a line."""

    id: str
    form: str
    lemma: str
    tag: str
    fine_tag: str
    features: str
    head: str
    relation: str
    enhanced: str
    misc: str


class Sentence:
    """The rows of a sentence, whose first word is word `first` of its document."""

    def __init__(self, block: LineBlock, first: int, brackets: Brackets) -> None:
        self.first = first
        self.lines: list[Line] = []
        self.rows: list[Row] = []  # one a word
        self.multiwords: list[Multiword] = []
        self.spaces: list[bool] = []
        self._block = block
        self._brackets = brackets
        self._written_as_one: list[tuple[Line, Multiword, bool]] = []
        filled = [line for line in block.lines if not line.text.startswith("#")]
        for line in filled:
            self._read(line)
        if filled and not self.rows:
            raise block.error(filled[0], "this sentence has no words")
        for line, multiword, space in self._written_as_one:
            self._write_as_one(line, multiword, space)

    @property
    def stop(self) -> int:
        return self.first + len(self.rows)

    def parents(self) -> list[int]:
        """The index of each word's head in the document, -1 for the root."""
        heads = []
        for line, row in zip(self.lines, self.rows, strict=True):
            head = int(row.head) if _HEAD.fullmatch(row.head) else -1
            if not 0 <= head <= len(self.rows) or row.head == row.id:
                must = f"must be 0 or another of the {len(self.rows)} words"
                raise self._block.error(line, f"the head of word {row.id} is {row.head!r}, but {must}")
            heads.append(self.first + head - 1 if head else -1)
        return heads

    def _read(self, line: Line) -> None:
        columns = line.text.split("\t")
        if len(columns) != len(Row._fields):
            raise self._block.error(line, f"a word has 10 columns parted by tabs, this line has {len(columns)}")
        row = Row(*columns)
        following = len(self.rows) + 1
        if row.id == str(following):
            self.lines.append(line)
            self.rows.append(row)
            self.spaces.append(_space_after(row))
            read_entities(row.misc, self.stop - 1, self.stop, line, self._brackets)
        elif match := _RANGE.fullmatch(row.id):
            if int(match[1]) != following:
                raise self._block.error(line, f"the multiword token {row.id} must stand right before its first word")
            multiword = Multiword(self.stop, self.first + int(match[2]), row.form)
            self._written_as_one.append((line, multiword, _space_after(row)))
        elif _EMPTY_NODE.fullmatch(row.id):
            read_entities(row.misc, self.stop, self.stop, line, self._brackets)
        else:
            raise self._block.error(line, f"the number of this word is {row.id!r}, but {following} comes next")

    def _write_as_one(self, line: Line, multiword: Multiword, space: bool) -> None:
        """Inside a multiword token no space follows a word, whatever the words' own rows say."""
        start, stop, _ = multiword
        apart = not self.multiwords or self.multiwords[-1].stop <= start
        if not (start < stop <= self.stop and apart):
            raise self._block.error(line, "this multiword token has no words, or shares them with another")
        inside = slice(start - self.first, stop - self.first)
        self.spaces[inside] = [False] * (stop - start - 1) + [space]
        self.multiwords.append(multiword)


def _space_after(row: Row) -> bool:
    return row.misc == "_" or "SpaceAfter=No" not in row.misc.split("|")
