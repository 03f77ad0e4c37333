"""Parquet: a row is a document, whose text (or list of words) is in one column; read batch by batch."""

import gzip
import importlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from headscope.errors import InputError, ReadingError
from headscope.text.readers.line_blocks import Result
from headscope.text.readers.lines import DAMAGED, open_bytes
from headscope.text.readers.rows import DEFAULT_COLUMN, document_of_value

ROWS_AT_ONCE = 1024
BYTES_AT_ONCE = 2**20


def read_parquet(path: Path, *, column: str = DEFAULT_COLUMN) -> Iterator[Result]:
    """A document a row; rows with an empty text are none. A file that breaks off ends with what is wrong."""
    arrow, parquet = _pyarrow()
    row = 0
    try:
        with _seekable(path) as file:
            # Arrow's own way is to fetch the column whole before the first row is out.
            table = parquet.ParquetFile(file, pre_buffer=False, buffer_size=BYTES_AT_ONCE)
            names = table.schema_arrow.names
            if column not in names:
                there = ", ".join(map(repr, names[:10]))
                yield ReadingError(f"{path}, row 1", f"there is no column {column!r}, but {there}: choose one with column=")
                return
            for batch in table.iter_batches(ROWS_AT_ONCE, columns=[column]):
                for cell in batch.column(0):
                    row += 1
                    yield from _read_cell(cell, column, path, row)
    except (arrow.ArrowException, *DAMAGED, ValueError) as error:
        reason = " ".join(str(error).split())
        yield ReadingError(f"{path}, row {row + 1}", f"the file is damaged from here on ({reason}): get it again")


def _read_cell(cell: Any, column: str, path: Path, row: int) -> Iterator[Result]:
    try:
        document = document_of_value(cell.as_py(), column, f"{path}:{row}")
    except UnicodeDecodeError:
        yield ReadingError(f"{path}, row {row}", f"the column {column!r} is not UTF-8")
    except InputError as error:
        yield ReadingError.at(f"{path}, row {row}", error)
    else:
        if document is not None:
            yield document


@contextmanager
def _seekable(path: Path) -> Iterator[BinaryIO]:
    """The file unpacked: Parquet is read from its end, which gzip cannot do."""
    with open_bytes(path) as file:
        if not isinstance(file, gzip.GzipFile):
            yield file
            return
        with tempfile.TemporaryFile() as unpacked:
            shutil.copyfileobj(file, unpacked)
            unpacked.seek(0)
            yield unpacked


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("Parquet files need pyarrow: run pip install pyarrow.") from None
