"""Files elsewhere: s3://, gs://, memory:// and whatever else fsspec knows, used like paths (universal_pathlib).

A remote file is read from where one seeks to, and written whole: under another name first, then moved.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from headscope.errors import InputError, MissingExtra

EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs"}  # what has to be installed for a scheme; else: remote
AT_ONCE = 2**20  # bytes that are fetched ahead of where one reads
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def as_path(given: str | Path) -> Path:
    """A path as people give it. A URL becomes one whose file is elsewhere; file:// is here.

    >>> as_path("run").name, as_path("file:///tmp/run").as_posix()
    ('run', '/tmp/run')
    """
    if not isinstance(given, str):
        return given
    found = _URL.match(given)
    if found is None:
        return Path(given)
    scheme = found[1].lower()
    if scheme == "file":
        return Path(unquote(urlsplit(given).path))
    try:
        path = importlib.import_module("upath").UPath(given)
        path.fs  # noqa: B018 - this is where a missing package is noticed
    except ImportError as error:
        missing = EXTRAS.get(scheme) or ("remote" if error.name == "upath" else None)
        if missing is None:
            raise InputError(f"{given} cannot be reached: {_short(error)}.") from error
        raise MissingExtra(f"{scheme}://", missing) from error
    except ValueError as error:
        raise InputError(
            f"{given} is no address that can be reached ({_short(error)}): check what stands before ://."
        ) from error
    return cast(Path, path)


def is_remote(path: Path) -> bool:
    return hasattr(path, "fs")


def said(path: Path, error: BaseException) -> str:
    """Why something elsewhere cannot be reached, for a sentence."""
    return f"{path} cannot be reached ({_short(error) or type(error).__name__}): check the address, and who you are there"


@contextmanager
def open_to_read(path: Path) -> Iterator[BinaryIO]:
    """A file's bytes, from where one seeks to, with `peek` and `read1` wherever it is."""
    if not is_remote(path):
        with path.open("rb") as file:
            yield file
        return
    there: Any = path
    # Some stores fetch 50 MB at a time otherwise, where a shard is a few thousand bytes.
    with there.open("rb", block_size=AT_ONCE) as far, io.BufferedReader(far) as near:
        yield near


@contextmanager
def on_this_disk(path: Path) -> Iterator[Path]:
    """The file itself, or a copy for as long as it is needed: for libraries that read from disks alone."""
    if not is_remote(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(path.read_bytes())
        yield copy


def upload(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file here, and put it there when it is complete."""
    with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
        made = Path(folder) / path.name
        write(made)
        there: Any = path
        there.parent.mkdir(parents=True, exist_ok=True)
        unfinished = there.with_name(f".{path.name}.{os.getpid()}.unfinished")
        try:
            there.fs.put_file(str(made), unfinished.path)
            there.fs.mv(unfinished.path, there.path)
        except BaseException:
            if unfinished.exists():
                unfinished.unlink()
            raise


def matching(pattern: Path) -> list[Path]:
    """The files elsewhere that a glob means."""
    there: Any = pattern
    return [as_path(there.fs.unstrip_protocol(found)) for found in there.fs.glob(there.path)]


def _short(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200]
