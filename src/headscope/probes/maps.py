"""Word maps on the disk: for every sentence the attention between its words by every head, in one file of arrays.

A folder holds `maps.npy`, all maps one after the other as float16, and `manifest.json`, which says what they
are made of and the file's checksum. A map is read when it is asked for: the file is never in memory.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.files import CannotWrite, explained, sha256_of

ARRAY, MANIFEST = "maps.npy", "manifest.json"
TYPE = np.dtype(np.float16)
SPARE = 64 * 2**20  # bytes that a disk should have left

Map = NDArray[np.float16]


def bytes_needed(lengths: Sequence[int], heads: int) -> int:
    """The disk that maps take: n x n numbers of two bytes for every head and sentence of n words."""
    return TYPE.itemsize * heads * sum(length**2 for length in lengths)


def check_space(folder: Path, needed: int) -> None:
    """Refuse to begin what the disk cannot hold."""
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if needed + SPARE > free:
        raise CannotWrite(
            f"The attention maps take {needed / 1e9:.2f} GB and {folder} has {free / 1e9:.2f} GB free: "
            "free some space, name another folder with cache=, or use fewer sentences with max_sentences=."
        )


class WordMaps:
    """maps[s] is (from, to, head): how much word `from` of sentence s attends to word `to`, special tokens cut."""

    def __init__(self, folder: Path, lengths: Sequence[int], heads: int) -> None:
        self.folder, self.heads = folder, heads
        self.lengths = np.array(lengths, dtype=np.int64)
        self._places, count = _places(self.lengths, heads)
        self._begin = (folder / ARRAY).stat().st_size - TYPE.itemsize * count

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, sentence: int) -> Map:
        length = int(self.lengths[sentence])
        # Read and not memory-mapped: mapped pages would count as this process's memory for as long as they stay.
        place = self._begin + TYPE.itemsize * int(self._places[sentence])
        found = np.fromfile(self.folder / ARRAY, TYPE, length**2 * self.heads, offset=place)
        return found.reshape(length, length, self.heads)


def load_maps(folder: Path, made_of: Mapping[str, Any], lengths: Sequence[int], heads: int) -> WordMaps | None:
    """The maps in a folder; None where there are none, they are made of something else, or they are damaged."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        expected = _manifest(made_of, lengths, heads, sha256_of(folder / ARRAY))
    except (OSError, ValueError):
        return None
    return WordMaps(folder, lengths, heads) if found == json.loads(json.dumps(expected)) else None


def _manifest(made_of: Mapping[str, Any], lengths: Sequence[int], heads: int, sha256: str) -> dict[str, Any]:
    return {"made_of": dict(made_of), "heads": heads, "lengths": list(lengths), "sha256": sha256}


class MapWriter:
    """Writes the maps of sentences in any order, each once."""

    def __init__(self, folder: Path, lengths: Sequence[int], heads: int) -> None:
        self.lengths, self.heads = list(lengths), heads
        self._places, count = _places(np.array(lengths, dtype=np.int64), heads)
        self._file = (folder / ARRAY).open("wb")
        header = {"descr": np.lib.format.dtype_to_descr(TYPE), "fortran_order": False, "shape": (count,)}
        np.lib.format.write_array_header_1_0(self._file, header)
        self._begin = self._file.tell()
        if hasattr(os, "posix_fallocate"):  # a full disk shows now and not in the middle
            os.posix_fallocate(self._file.fileno(), 0, self._begin + TYPE.itemsize * count)

    def write(self, sentence: int, alpha: Map) -> None:
        """`alpha` is (from, to, head)."""
        assert alpha.shape == (self.lengths[sentence], self.lengths[sentence], self.heads)
        self._file.seek(self._begin + TYPE.itemsize * int(self._places[sentence]))
        self._file.write(np.ascontiguousarray(alpha, dtype=TYPE).data)

    def close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


@contextmanager
def written_whole(folder: Path, made_of: Mapping[str, Any], lengths: Sequence[int], heads: int) -> Iterator[MapWriter]:
    """Write maps beside `folder`, and put them in its place when all are there; whatever was there before goes."""
    with explained(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".unfinished", dir=folder.parent))
        try:
            writer = MapWriter(unfinished, lengths, heads)
            try:
                yield writer
            finally:
                writer.close()
            manifest = _manifest(made_of, lengths, heads, sha256_of(unfinished / ARRAY))
            (unfinished / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, sort_keys=True), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _places(lengths: NDArray[np.int64], heads: int) -> tuple[NDArray[np.int64], int]:
    """Where each map begins, in numbers, and how many numbers there are."""
    ends = np.cumsum(lengths**2 * heads)
    return np.concatenate([[0], ends[:-1]]).astype(np.int64), int(ends[-1]) if len(ends) else 0
