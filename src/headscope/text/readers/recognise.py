"""Which format a file has, judged by its content: names lie, and gzip hides them."""

import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from headscope.errors import InputError
from headscope.text.readers.conll2012 import BEGIN, is_begin
from headscope.text.readers.lines import HEAD, head_of
from headscope.text.readers.litbank import COLUMNS as LITBANK_COLUMNS

FEWEST_ROWS = 4  # with as many columns each: no text is written like that
_CONLLU_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_JSON = re.compile(r'\{\s*("|\}|$)|\[\s*(\{|$)')


def recognise(path: Path) -> str | None:
    """The name of the file's format; None where every format of plain text would read it alike.

    Columns that fit no format are no text: InputError says which formats were tried, and why none fits.
    """
    head = head_of(path)
    format = recognise_bytes(head)
    if format in (None, "lines", "paragraphs") and (columns := _columns(head)):
        tried = "; ".join(f"{name}: {why}" for name, why in misfits(path).items())
        raise InputError(
            f"{path} has {columns} columns and is none of the formats that have ({tried}): bring it into one of them, "
            'or have it read as plain text, with format="lines" (study --format lines, or of a paper --text-format lines).'
        )
    return format


def recognise_bytes(head: bytes) -> str | None:
    r"""
    >>> recognise_bytes(b'{"text": "A row."}\n')
    'jsonl'
    >>> recognise_bytes(b"A sentence.\nAnother.\n"), recognise_bytes(b"A paragraph.\n\nAnother.\n")
    ('lines', 'paragraphs')
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = _lines(head)
    filled = [line for line in lines if line.strip()]
    if not filled:
        return None
    for name, misfit in MISFITS.items():
        if not misfit(filled):
            return name
    if len(filled) == 1:
        return None
    blocks = [is_filled for is_filled, _ in groupby(lines, lambda line: bool(line.strip())) if is_filled]
    return "paragraphs" if len(blocks) > 1 else "lines"


def misfits(path: Path) -> dict[str, str]:
    """Why a file is not in each format that has rows or columns; an empty sentence where it is."""
    filled = [line for line in _lines(head_of(path)) if line.strip()] or [""]
    return {name: misfit(filled) for name, misfit in MISFITS.items()}


def _conll2012(filled: list[str]) -> str:
    return "" if is_begin(filled[0]) else f"its first line is {_short(filled[0])}, not {BEGIN!r}"


def _conllu(filled: list[str]) -> str:
    columns = _first_row(filled)
    if len(columns) != 10:
        return f"its first row has {len(columns)} column{'s' if len(columns) > 1 else ''} parted by tabs, not 10"
    return "" if _CONLLU_ID.fullmatch(columns[0]) else f"its first row begins with {_short(columns[0])}, not with a number"


def _litbank(filled: list[str]) -> str:
    columns = _first_row(filled)
    if columns[0] not in LITBANK_COLUMNS:
        return f"its first row begins with {_short(columns[0])}, not with one of {', '.join(LITBANK_COLUMNS)}"
    expected = LITBANK_COLUMNS[columns[0]]
    return "" if len(columns) == expected else f"its first row has {len(columns)} columns, not {expected}"


def _jsonl(filled: list[str]) -> str:
    return "" if _JSON.match(filled[0].strip()) else f"its first line is {_short(filled[0])}, which is no object"


# In this order: the first that fits is taken.
MISFITS: dict[str, Callable[[list[str]], str]] = {
    "conll2012": _conll2012,
    "conllu": _conllu,
    "litbank": _litbank,
    "jsonl": _jsonl,
}


def _columns(head: bytes) -> int:
    """How many columns every row has, parted by tabs; 0 where the rows differ, or are too few to tell. Two are of words."""
    lines = _lines(head)[: -1 if len(head) == HEAD else None]  # the last may be cut off
    rows = [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
    counts = set(map(len, rows))
    if len(rows) < FEWEST_ROWS or len(counts) > 1:
        return 0
    (count,) = counts
    return count if count > 2 or (count == 2 and not any(" " in cell for row in rows for cell in row)) else 0


def _first_row(filled: list[str]) -> list[str]:
    return next((line for line in filled if not line.startswith("#")), "").split("\t")


def _short(text: str) -> str:
    return repr(text if len(text) <= 24 else f"{text[:24]}…")


def _lines(head: bytes) -> list[str]:
    return [line.removesuffix("\r") for line in head.decode("utf-8-sig", errors="replace").split("\n")]
