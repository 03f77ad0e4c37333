"""JSON Lines: an object a line, whose text (or list of words) is in one column."""

import json
from collections.abc import Iterable, Iterator

from headscope.text.document import Document
from headscope.text.readers.line_blocks import LineBlock, Result, one_by_one, parse_each
from headscope.text.readers.lines import Line
from headscope.text.readers.rows import DEFAULT_COLUMN, document_of_row


def read_jsonl(lines: Iterable[Line], path: str, *, column: str = DEFAULT_COLUMN) -> Iterator[Result]:
    """A document a row; rows with an empty text are none."""

    def parse(block: LineBlock) -> Document | None:
        (line,) = block.lines
        try:
            row = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            raise block.error(line, f"this is not JSON on one line ({error})") from None
        if not isinstance(row, dict):
            raise block.error(line, f'a row is an object such as {{"{column}": "..."}}, not {type(row).__name__}')
        return document_of_row(row, column, block.name)

    return parse_each(one_by_one(lines, path), parse)
