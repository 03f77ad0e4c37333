"""Word alignments by eflomal, a statistical aligner that knows no model, only the texts (Ostling and Tiedemann, 2016).

It is under the GPL: called as a program where somebody has installed it, and never imported. It learns from the very
texts that it aligns, so that a few hundred pairs are little to it and a million much. It takes no seed: two runs differ
in some links.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from headscope.alignment.link_files import read_links
from headscope.alignment.symmetrise import SYMMETRISATIONS
from headscope.errors import InputError
from headscope.text import Document
from headscope.text.links import Pair
from headscope.text.parallel import sentence_lengths

PROGRAM = "eflomal-align"
TIME_LIMIT = 24 * 3600.0  # seconds
_SPACE = re.compile(r"\s")


def eflomal_links(
    documents: Sequence[Document],
    program: str | Path | None = None,
    *,
    symmetrisation: str | None = None,
    time_limit: float = TIME_LIMIT,
) -> list[frozenset[Pair]]:
    """The links (source word, target word) of each document, with at most one source word for each target word.

    `symmetrisation`, a name of SYMMETRISATIONS, joins them with those of the other direction. `program` is the path of
    eflomal-align where it is not found by itself. It leaves pairs of more than a thousand words without links.
    """
    if symmetrisation is not None and symmetrisation not in SYMMETRISATIONS:
        raise InputError(f"A symmetrisation is one of {', '.join(SYMMETRISATIONS)}, not {symmetrisation!r}.")
    found = find_program(program)
    _check(documents)
    if not documents:
        return []
    with TemporaryDirectory(prefix="headscope-eflomal-") as name:
        folder = Path(name)
        _write(folder / "source", [document.words or () for document in documents])
        _write(folder / "target", [document.target_words or () for document in documents])
        _run([str(found), "-s", "source", "-t", "target", "-f", "forward", "-r", "reverse"], folder, time_limit)
        forward, reverse = (_read(folder / side, documents) for side in ("forward", "reverse"))
    if symmetrisation is None:
        return forward
    join = SYMMETRISATIONS[symmetrisation]
    return [join(one, other) for one, other in zip(forward, reverse, strict=True)]


def find_program(program: str | Path | None = None) -> Path:
    """Where eflomal-align is: as given, on the PATH, or beside this Python."""
    beside = Path(sys.executable).parent / PROGRAM
    found = shutil.which(str(program)) if program is not None else shutil.which(PROGRAM) or shutil.which(beside)
    if found is None and program is not None:
        raise InputError(f"{program} is not a program that can be run: give the path of {PROGRAM}.")
    if found is None:
        raise InputError(
            f"{PROGRAM} is not installed: get it with `pip install eflomal`, which compiles it, or give its path."
        )
    return Path(found).absolute()


def _check(documents: Sequence[Document]) -> None:
    for place, document in enumerate(documents):
        if document.words is None or document.target_words is None:
            raise InputError(f"{document.name or f'Document {place}'} has no words on both sides, so it cannot be aligned.")


def _write(path: Path, sentences: Sequence[Sequence[str]]) -> None:
    """A sentence a line. A space inside a word, such as a no-break space, would make two words of it there."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(" ".join(_SPACE.sub("_", word) for word in words) + "\n" for words in sentences)


def _run(command: list[str], folder: Path, time_limit: float) -> None:
    name, log = Path(command[0]).name, folder / "log"
    try:
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=file, start_new_session=True)
    except OSError as error:
        raise InputError(f"{command[0]} cannot be run ({error.strerror}): check the program.") from None
    try:
        code = process.wait(time_limit)
    except subprocess.TimeoutExpired:
        raise InputError(f"{name} was stopped after {time_limit:g} seconds: give it more time, or fewer pairs.") from None
    finally:
        if process.poll() is None:  # it is a script: what it has started must not go on either
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code != 0:
        said = log.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line for line in reversed(said) if line.strip()), "nothing")
        raise InputError(f"{name} failed with exit code {code}; its last words were: {last.strip()}")


def _read(path: Path, documents: Sequence[Document]) -> list[frozenset[Pair]]:
    if not path.is_file():
        raise InputError(f"The aligner wrote no {path.name} links: is this really {PROGRAM}?")
    return [links.sure for links in read_links(path, sentence_lengths(documents), format="pharaoh")]
