"""Made: what of a run directory is there already, and of what it was made, so that nothing is made twice.

The same command again, over the same files, has nothing to do, and a figure of the same content is not drawn again.
Files are known by their hashes: one that was deleted or changed is made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from headscope.files import sha256_of, write_text
from headscope.later import Figure, matplotlib
from headscope.lens.source import ModelInHand, ModelSource
from headscope.study.manifest import describe_source, load_manifest, versions

NAME = "made.json"
DRAWN = ("svg", "pdf")


class Made:
    """What a run directory remembers of its own making; nothing, where it is not finished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            before = json.loads((folder / NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            before = {}
        self.asked: str = before.get("asked", "")  # what the finished run was asked for
        self.files: dict[str, str] = before.get("files", {})  # all that it is made of, and their hashes
        self.figures: dict[str, str] = before.get("figures", {})  # by the name of a result, of what its figure was drawn

    def is_whole(self, asked: str) -> bool:
        """Whether the run was asked for just this, is finished, and nothing of it is missing or changed."""
        same = bool(asked) and asked == self.asked and all(map(self._is_as_it_was, self.files))
        return same and bool(load_manifest(self.folder)["finished"])  # it may have been interrupted when it was made again

    def is_drawn(self, name: str, content: str) -> bool:
        """Whether a result's figure with this content is there."""
        files = [f"figures/{name}.{kind}" for kind in DRAWN]
        return self.figures.get(name) == content and all(file in self.files and self._is_as_it_was(file) for file in files)

    def _is_as_it_was(self, file: str) -> bool:
        path = self.folder / file
        return path.is_file() and sha256_of(path) == self.files[file]

    def save(self, asked: str, figures: dict[str, str], page: str) -> None:
        """Remember a run that is finished."""
        made = [
            self.folder / page,
            *sorted(file for part in ("tables", "figures") for file in (self.folder / part).glob("*.*")),
        ]
        self.asked, self.figures = asked, figures
        self.files = {file.relative_to(self.folder).as_posix(): sha256_of(file) for file in made}
        known = {"asked": self.asked, "files": self.files, "figures": self.figures}
        write_text(self.folder / NAME, json.dumps(known, indent=1, sort_keys=True) + "\n")


def asked_for(source: ModelSource, asked: Mapping[str, Any]) -> str:
    """A hash of a model, of whatever else makes a run, and of the software; nothing, where one of them cannot be told again.

    Corpora and files are known by their content.
    """
    try:
        all_of_it = [_known_as(source), versions(), code_version(), _known_as(asked)]
    except _NotTold:
        return ""
    return hashlib.sha256(json.dumps(all_of_it, sort_keys=True).encode()).hexdigest()


class _NotTold(Exception):
    """What something is cannot be told from its value alone."""


def _known_as(value: Any) -> Any:
    if isinstance(value, ModelSource):
        described = describe_source(value)
        if "hashes" not in described or isinstance(value, ModelInHand):
            raise _NotTold
        return described
    if hasattr(value, "fingerprint"):
        return value.fingerprint()
    if isinstance(value, Path):
        return sha256_of(value)
    if is_dataclass(value):
        return _known_as(vars(value))
    if isinstance(value, Mapping):
        return {str(name): _known_as(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_known_as(one) for one in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise _NotTold


@lru_cache(maxsize=1)
def code_version() -> str:
    """A hash of headscope's own code, and of what draws: a figure of before may look otherwise now."""
    digest = hashlib.sha256(matplotlib.__version__.encode())
    package = Path(__file__).parents[2]
    for file in sorted(package.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def content_of(figure: Figure) -> str:
    """A hash of all that a figure shows, without drawing it, and of the code that draws."""
    digest = hashlib.sha256(code_version().encode())
    for artist in figure.findobj():
        for part in _parts(artist):
            digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return digest.hexdigest()


def _parts(artist: matplotlib.artist.Artist) -> list[Any]:
    """What tells two artists of one figure's code apart: texts, places and colours."""
    parts: list[Any] = [type(artist).__name__, artist.get_visible(), artist.get_zorder()]
    if isinstance(artist, matplotlib.text.Text):
        parts += [artist.get_text(), artist.get_position(), artist.get_color()]
    elif isinstance(artist, matplotlib.lines.Line2D):
        parts += [np.asarray(artist.get_xydata()), artist.get_color()]
    elif isinstance(artist, matplotlib.collections.Collection):
        paths = [np.asarray(path.vertices) for path in artist.get_paths()]
        parts += [np.asarray(artist.get_offsets()), np.asarray(artist.get_facecolor()), np.asarray(artist.get_edgecolor())]
        parts += [*paths, _array(artist.get_array()), artist.get_clim()]
    elif isinstance(artist, matplotlib.image.AxesImage):
        parts += [_array(artist.get_array()), artist.get_clim(), artist.get_extent()]
    elif isinstance(artist, matplotlib.patches.Patch):
        parts += [np.asarray(artist.get_verts()), artist.get_facecolor(), artist.get_edgecolor()]
    return parts


def _array(values: Any) -> Any:
    return None if values is None else np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
