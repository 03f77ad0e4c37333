"""Which format a file has, judged by its content: names lie, and gzip hides them."""

import re
from itertools import groupby
from pathlib import Path

from headscope.text.readers.conll2012 import BEGIN
from headscope.text.readers.lines import DAMAGED, HEAD, open_bytes
from headscope.text.readers.litbank import COLUMNS as LITBANK_COLUMNS

_CONLLU_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_JSON = re.compile(r'\{\s*("|\}|$)|\[\s*(\{|$)')


def recognise(path: Path) -> str | None:
    """The name of the file's format; None where every format of plain text would read it alike."""
    try:
        with open_bytes(path) as file:
            return recognise_bytes(file.read(HEAD))
    except DAMAGED:
        return None  # reading it says what is wrong, and in which line


def recognise_bytes(head: bytes) -> str | None:
    r"""
    >>> recognise_bytes(b'{"text": "A row."}\n')
    'jsonl'
    >>> recognise_bytes(b"A sentence.\nAnother.\n"), recognise_bytes(b"A paragraph.\n\nAnother.\n")
    ('lines', 'paragraphs')
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = [line.removesuffix("\r") for line in head.decode("utf-8-sig", errors="replace").split("\n")]
    filled = [line for line in lines if line.strip()]
    if not filled:
        return None
    words = (line for line in filled if not line.startswith("#"))
    columns = next(words, "").split("\t")
    if filled[0].startswith(BEGIN):
        return "conll2012"
    if len(columns) == 10 and _CONLLU_ID.fullmatch(columns[0]):
        return "conllu"
    if columns[0] in LITBANK_COLUMNS and len(columns) == LITBANK_COLUMNS[columns[0]]:
        return "litbank"
    if _JSON.match(filled[0].strip()):
        return "jsonl"
    if len(filled) == 1:
        return None
    blocks = [is_filled for is_filled, _ in groupby(lines, lambda line: bool(line.strip())) if is_filled]
    return "paragraphs" if len(blocks) > 1 else "lines"
