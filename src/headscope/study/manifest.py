"""manifest.json: what a run is made of, so that it resumes only as the same run."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from headscope.errors import InputError
from headscope.files import sha256_of, write_text
from headscope.later import torch, transformers
from headscope.lens import watching
from headscope.lens.adapters import adapter_in, base_of
from headscope.lens.lens import Lens
from headscope.lens.placement import arrays_of
from headscope.lens.source import ModelSource
from headscope.version import __version__

NAME = "manifest.json"
FORMAT = 2  # of a run directory
_WEIGHTS = ("*.safetensors", "*.gguf", "config.json", "adapter_config.json", "tokenizer*.json", "*.model", "*.spm", "vocab*")


def versions() -> dict[str, str]:
    """What computed the numbers."""
    return {
        "headscope": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
    }


@dataclass(frozen=True)
class MadeWith:
    """What numbers come of besides the job: who counts elsewhere must have the same model and software."""

    hashes: dict[str, str]
    versions: dict[str, str]
    size: int  # bytes of the model in memory

    @classmethod
    def of(cls, lens: Lens, manifest: dict[str, Any] | None = None) -> MadeWith:
        """Of an open model; as a manifest has it, where there is one."""
        found = manifest or {"model": describe_model(lens), "versions": versions()}
        size = sum(tensor.numel() * tensor.element_size() for tensor in lens.model.state_dict().values())
        return cls(found["model"]["hashes"], found["versions"], size)

    def differences(self, other: MadeWith) -> list[str]:
        """What is not the same there, in words."""
        return _changes({"model": self.hashes, **self.versions}, {"model": other.hashes, **other.versions})


def describe_model(lens: Lens) -> dict[str, Any]:
    """The model's recipe, and a hash of its files, or of its parameters where it has none."""
    architecture = {"architecture": type(lens.model).__name__, "device": lens.device.type}
    by_parameters = {"hashes": {"parameters": _hash_of_parameters(lens.model)}} if file_hashes(lens.source) is None else {}
    return {**describe_source(lens.source), **architecture, **by_parameters}


def describe_source(source: ModelSource) -> dict[str, Any]:
    """As much of that as can be told before the model is opened: no hashes, where it has no files here."""
    hashes = file_hashes(source)
    return {**source.describe(), **({} if hashes is None else {"hashes": hashes})}


def file_hashes(source: ModelSource) -> dict[str, str] | None:
    """The hashes of a model's files by their names; None for a model of the hub, or in hand."""
    place = Path(source.model)
    if place.is_file():
        files = [place]
    elif place.is_dir():
        pickles = () if any(place.glob("*.safetensors")) else ("pytorch_model*.bin",)
        files = sorted({file for pattern in (*_WEIGHTS, *pickles) for file in place.glob(pattern)})
    else:
        return None
    hashes = {file.name: _hash_of_file(file, file.stat().st_size, file.stat().st_mtime_ns) for file in files}
    base = file_hashes(replace(source, model=base_of(adapter))) if (adapter := adapter_in(place)) is not None else None
    return {**hashes, **{f"base/{name}": found for name, found in (base or {}).items()}}


@lru_cache(maxsize=256)
def _hash_of_file(file: Path, size: int, changed: int) -> str:
    """Read once, while the file stays as it is: weights are large."""
    return sha256_of(file)


def is_same_model(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two descriptions are of the same weights, wherever they lie."""
    return all(one[part] == other[part] for part in ("hashes", "random_init", "keep_embeddings"))


def _hash_of_parameters(model: torch.nn.Module) -> str:
    digest = hashlib.sha256()
    for name, tensor in arrays_of(model):
        digest.update(name.encode())
        digest.update(watching.dequantised(tensor).detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def save_manifest(run: Path, manifest: dict[str, Any]) -> None:
    text = json.dumps({"format": FORMAT, **manifest}, indent=2, ensure_ascii=False, sort_keys=True)
    write_text(run / NAME, text + "\n")


def load_manifest(run: Path) -> dict[str, Any]:
    """The manifest of a run."""
    path = run / NAME
    if not path.is_file():
        raise InputError(f"{run} is not a run directory: it has no {NAME}.")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} cannot be read ({error}): the run is damaged; start it again elsewhere.") from error
    if manifest.get("format") != FORMAT:
        raise InputError(
            f"{run} was made by an earlier version of headscope, which kept its runs otherwise: count it again."
        )
    return manifest


def begin_run(run: Path, kind: str, lens: Lens, settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The manifest of a run, written down if it begins here; one that goes on must have been begun with the same."""
    now = {"kind": kind, "model": describe_model(lens), "settings": _as_read_again(settings), "versions": versions(), **more}
    if is_begun(run):
        _check_same(run, load_manifest(run), now)
    else:
        save_manifest(run, {**now, "finished": False})
    return now


def check_run(run: Path, kind: str, source: ModelSource, settings: dict[str, Any], **more: Any) -> None:
    """Refuse what `begin_run` would, as far as that can be told before the model is opened, from what is known by then."""
    if not is_begun(run):
        return
    before = load_manifest(run)
    now = {"model": describe_source(source), "settings": _as_read_again(settings), "versions": versions(), **more}
    known = {part: {name: before.get(part, {}).get(name) for name in now[part]} for part in now}
    _check_same(run, {"kind": before["kind"], **known}, {"kind": kind, **now})


def check_corpora(run: Path, corpora: dict[str, str]) -> dict[str, str]:
    """The fingerprints of all corpora that a run has read, by name, and of those that it is to read now.

    More of them may come later; another one in the place of one that was read is refused.
    """
    before: dict[str, str] = load_manifest(run).get("corpora", {}) if is_begun(run) else {}
    changes = [_changes(before[name], corpora[name], name) for name in corpora if name in before]
    _refuse(run, "corpus", [change for some in changes for change in some])
    return {**before, **corpora}


def is_begun(run: Path) -> bool:
    """Whether there is a run in this folder; an error, where there is something else."""
    if (run / NAME).is_file():
        return True
    if run.is_dir() and any(run.iterdir()):
        raise InputError(f"{run} is not empty and is not a run: choose another folder with -o.")
    if run.is_file():
        raise InputError(f"{run} is a file: choose a folder with -o.")
    return False


def _as_read_again(settings: dict[str, Any]) -> dict[str, Any]:
    """Lists, where there were tuples."""
    read: dict[str, Any] = json.loads(json.dumps(settings))
    return read


def _check_same(run: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on with a run that was begun with something else, and say what."""
    if before["kind"] != now["kind"]:
        theirs, ours = ("a study" if one["kind"] == "study" else one["kind"] for one in (before, now))
        raise InputError(f"{run} is the run of {theirs}, not of {ours}: choose another folder with -o.")
    for part in [part for part in _WORDS if part in now]:
        changes = [change for change in _changes(before.get(part, {}), now[part]) if not _is_only_a_name(part, change)]
        _refuse(run, _WORDS[part], changes)


def _refuse(run: Path, what: str, changes: list[str]) -> None:
    if changes:
        raise InputError(
            f"{run} was begun with another {what}: {'; '.join(changes[:3])}; "
            "run it as before, or choose another folder with -o."
        )


_WORDS = {"model": "model", "corpus": "corpus", "settings": "setting", "versions": "version of the software"}


def _is_only_a_name(part: str, change: str) -> bool:
    """The path to a model or a corpus may be written otherwise; their hashes say whether they are the same."""
    return (part == "model" and change.startswith(("model ", "name "))) or (part == "corpus" and change.startswith("paths "))


def _changes(before: Any, now: Any, name: str = "") -> list[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        keys = sorted({*before, *now})
        return [change for key in keys for change in _changes(before.get(key), now.get(key), f"{name}.{key}".lstrip("."))]
    return [] if before == now else [f"{name} was {_short(before)} and is {_short(now)}"]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:18]}…{text[-18:]}"
