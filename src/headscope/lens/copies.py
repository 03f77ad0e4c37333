"""Copies of GGUF models, which open at once: transformers takes half a minute to make float32 arrays and a tokenizer of one.

A copy is known by the hash of its file, the precision, and the versions that made it; it is kept only after it was opened
again and found the same to the bit. All copies together stay below LIMIT: those that were not used for longest go first.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import shutil
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from headscope.cache_folder import cache_folder
from headscope.errors import HeadscopeError
from headscope.files import sha256_of, write_folder, write_text
from headscope.later import PreTrainedModel, torch

LIMIT = 5_000_000_000  # bytes
_FORMAT = 1
_ABOUT = "copy.json"
_ABANDONED = 24 * 3600.0  # seconds after which an unfinished copy was surely left behind

Opened = tuple[PreTrainedModel, Any]


@dataclass(frozen=True)
class Copy:
    """One copy: what it is of, where it is, how large, and when it was used last (seconds since 1970)."""

    model: str
    folder: str
    bytes: int
    used: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def through_copy(file: Path, dtype: str, read: Callable[[], Opened], open_folder: Callable[[Path], Opened]) -> Opened:
    """The model of a GGUF file: from its copy, or by `read`, and then it is copied."""
    cache = cache_folder()
    if cache is None:
        return read()
    place = cache / "models" / _key(file, dtype)
    if _is_whole(place):
        try:
            opened = open_folder(place)
            os.utime(place / _ABOUT)
            return opened
        except (HeadscopeError, OSError):  # of a copy that cannot be read: it is made again
            pass
    shutil.rmtree(place, ignore_errors=True)
    opened = read()
    try:
        _keep(place, file.name, opened, open_folder)
    except (HeadscopeError, OSError, ValueError):  # no room, no right to write, or not the same: the model is here anyway
        shutil.rmtree(place, ignore_errors=True)
    return opened


def copies() -> list[Copy]:
    """Every copy, the one that was used last first."""
    cache = cache_folder()
    found = [] if cache is None else [_described(place) for place in sorted(cache.glob(f"models/*/{_ABOUT}"))]
    return sorted(found, key=lambda one: -one.used)


def clear() -> list[Copy]:
    """Throw all copies away; says which."""
    gone, cache = copies(), cache_folder()
    if cache is not None:
        shutil.rmtree(cache / "models", ignore_errors=True)
    return gone


def _key(file: Path, dtype: str) -> str:
    made_by = [f"{package} {_version(package)}" for package in ("transformers", "gguf", "tokenizers")]
    said = "\n".join([sha256_of(file), dtype, *made_by, str(_FORMAT)])
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _keep(place: Path, name: str, opened: Opened, open_folder: Callable[[Path], Opened]) -> None:
    size = sum(tensor.nbytes for tensor in opened[0].parameters())
    if size > LIMIT or shutil.disk_usage(_there(place)).free < 2 * size:
        return
    _make_room(place.parent, size)
    write_folder(place, lambda unfinished: _write(unfinished, name, *opened))
    if not is_same(opened, open_folder(place)):
        shutil.rmtree(place)


def _write(folder: Path, name: str, model: PreTrainedModel, tokenizer: Any) -> None:
    from safetensors.torch import save_model

    save_model(model, str(folder / "model.safetensors"), metadata={"format": "pt"})
    config = copy.deepcopy(model.config)
    vars(config).pop("quantization_config", None)  # what is written is no longer quantised
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    if getattr(model, "generation_config", None) is not None:
        model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    sums = {file.name: _checksum(file) for file in sorted(folder.iterdir())}
    size = sum(file.stat().st_size for file in folder.iterdir())
    write_text(folder / _ABOUT, json.dumps({"model": name, "bytes": size, "files": sums}, indent=2) + "\n")


def is_same(one: Opened, other: Opened) -> bool:
    """Whether two models have the same class, the same arrays to the bit, and tokenizers that say the same."""
    (model, tokenizer), (copied, again) = one, other
    arrays, same = model.state_dict(), copied.state_dict()
    return (
        type(model) is type(copied)
        and arrays.keys() == same.keys()
        and all(arrays[name].dtype == same[name].dtype and torch.equal(arrays[name], same[name]) for name in arrays)
        and type(tokenizer) is type(again)
        and tokenizer.get_vocab() == again.get_vocab()
        and tokenizer.special_tokens_map == again.special_tokens_map
        and tokenizer.chat_template == again.chat_template
        and _rules(tokenizer) == _rules(again)
    )


def _rules(tokenizer: Any) -> Any:
    """All that a fast tokenizer does to a text."""
    return json.loads(tokenizer.backend_tokenizer.to_str())


def _is_whole(place: Path) -> bool:
    """Whether every file of a copy is what was written."""
    try:
        sums = json.loads((place / _ABOUT).read_text())["files"]
        return bool(sums) and all(_checksum(place / name) == expected for name, expected in sums.items())
    except (OSError, ValueError, KeyError, AttributeError):
        return False


def _checksum(file: Path) -> int:
    """Against bytes that were lost, not against people: the folder is the user's own."""
    found = 0
    with file.open("rb") as bytes_of:
        while some := bytes_of.read(1 << 22):
            found = zlib.crc32(some, found)
    return found


def _make_room(models: Path, size: int) -> None:
    """Let the copies go that were not used for longest, until `size` more bytes are within the limit."""
    left = copies()
    while left and sum(one.bytes for one in left) + size > LIMIT:
        shutil.rmtree(left.pop().folder, ignore_errors=True)
    for unfinished in models.glob(".*.unfinished"):
        if time.time() - unfinished.stat().st_mtime > _ABANDONED:
            shutil.rmtree(unfinished, ignore_errors=True)


def _described(about: Path) -> Copy:
    try:
        said = json.loads(about.read_text())
        model, size = str(said["model"]), int(said["bytes"])
    except (ValueError, KeyError, TypeError):  # damaged: counted by what is there, and made again when it is asked for
        model, size = "?", sum(file.stat().st_size for file in about.parent.iterdir())
    return Copy(model, str(about.parent), size, about.stat().st_mtime)


def _there(place: Path) -> Path:
    """The nearest folder above that exists."""
    return next(parent for parent in place.parents if parent.is_dir())
