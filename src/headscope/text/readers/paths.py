"""From what people give (files, folders, globs) to files, always in the same order."""

import glob
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from headscope.errors import InputError
from headscope.files import sha256_of
from headscope.remote import as_path, is_remote, matching, said


def find_files(given: Iterable[str | Path]) -> list[Path]:
    """The files meant, in the order given; those of a folder (with its subfolders) or of a glob sorted by name."""
    files = [file for path in given for file in _files_of(path)]
    if not files:
        raise InputError("There is no file to read: give a path, a folder or a pattern.")
    return files


def _files_of(given: str | Path) -> list[Path]:
    path = as_path(given)
    if is_remote(path):
        return _files_there(path, str(given))
    try:
        path = path.expanduser()
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(path)))
            return _some(sorted(inside), f"The folder {path} has no files in it")
        if path.exists():
            return [path]
        if glob.has_magic(str(given)):
            matches = (Path(match) for match in glob.glob(str(path), recursive=True))
            return _some(sorted(match for match in matches if match.is_file()), f"No file matches {given}")
    except (OSError, RuntimeError) as error:  # too long a name, a folder that is not ours, an unknown ~user
        raise InputError(f"{str(given)[:80]!r} is no path that can be read ({error}): check it.") from None
    raise InputError(f"There is no file or folder {str(given)[:200]!r}: check the path (from {Path.cwd()}).")


def _files_there(path: Path, given: str) -> list[Path]:
    """The same of an address."""
    try:
        if path.is_file():
            return [path]
        if path.is_dir():
            inside = [file for file in path.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(path))]
            return _some(sorted(inside, key=str), f"The folder {path} has no files in it")
        found = matching(path) if glob.has_magic(given) else []
    except InputError:
        raise
    except Exception as error:  # each store has errors of its own
        raise InputError(f"{said(path, error)}.") from error
    if glob.has_magic(given):
        return _some(sorted((file for file in found if file.is_file()), key=str), f"No file matches {given}")
    raise InputError(f"There is no file or folder {given[:200]!r}: check the address.")


def hash_of(path: Path) -> str:
    """The sha256 of a file that a corpus is read from."""
    try:
        if is_remote(path):
            return sha256_of(path)
        about = path.stat()
        return _hash_of_file(path, about.st_size, about.st_mtime_ns)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check the path.") from None


@lru_cache(maxsize=1024)
def _hash_of_file(path: Path, size: int, changed: int) -> str:
    """Read once, while the file stays as it is: a paper asks several times."""
    return sha256_of(path)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _some(files: list[Path], otherwise: str) -> list[Path]:
    if not files:
        raise InputError(f"{otherwise}: check the path.")
    return files
