"""Files that are written whole or not at all, and what they are known by."""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from headscope.errors import HeadscopeError
from headscope.remote import is_remote, said, upload

_FULL = (errno.ENOSPC, errno.EDQUOT)


class CannotWrite(HeadscopeError):
    """The disk is full, or the folder cannot be written to."""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the file system, or of one elsewhere, into a sentence."""
    try:
        yield
    except HeadscopeError:
        raise
    except Exception as error:
        if is_remote(path):
            raise CannotWrite(
                f"{said(path, error)}; run the same command again, nothing that was finished is lost."
            ) from error
        if not isinstance(error, OSError):
            raise
        if error.errno in _FULL:
            raise CannotWrite(
                f"The disk is full: {path} could not be written; free some space and run the same command again, "
                "nothing that was finished is lost."
            ) from error
        raise CannotWrite(f"{path} cannot be written: {error.strerror or error}.") from error


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file beside `path`, and put it in its place when it is complete and on the disk."""
    with explained(path):
        if is_remote(path):
            upload(path, write)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
        try:
            write(unfinished)
            with unfinished.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)


def write_folder(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a folder beside `path`, and put it in its place when all its files are on the disk.

    Where another process was quicker, its folder stays.
    """
    with explained(path):
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
        unfinished.mkdir(parents=True)
        try:
            write(unfinished)
            for one in unfinished.iterdir():
                with one.open("rb") as file:
                    os.fsync(file.fileno())
            if not path.exists():
                os.replace(unfinished, path)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """A text file, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """A file, whole or not at all."""
    write_whole(path, lambda unfinished: unfinished.write_bytes(content))
