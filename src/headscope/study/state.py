"""The state of one finished shard: arrays only, with a checksum, in a safetensors file."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from headscope.files import write_whole
from headscope.remote import on_this_disk
from headscope.statistics.base import Array

State = dict[str, dict[str, Array]]  # by table name, then by field


def save_state(path: Path, state: State, groups: Sequence[int], counts: Mapping[str, int]) -> None:
    """Write a shard's sums, the groups that their rows are of, and how many documents and tokens they come from."""
    flat = {f"{table}/{field}": array for table, fields in sorted(state.items()) for field, array in sorted(fields.items())}
    about = json.dumps({"counts": dict(counts), "groups": list(groups), "sha256": _digest(flat)}, sort_keys=True)
    # One entry: the order of several is not the same in every file.
    write_whole(path, lambda unfinished: unfinished.write_bytes(save(flat, {"headscope": about})))


def load_state(path: Path) -> tuple[State, list[int], dict[str, int]] | None:
    """What `save_state` wrote; None where there is no such file, it is not whole, or an earlier version wrote it."""
    try:
        with on_this_disk(path) as here, safe_open(here, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get("headscope", "{}"))
            flat = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError):
        return None
    if about.get("sha256") != _digest(flat) or "groups" not in about:
        return None
    state: State = {}
    for name, array in flat.items():
        table, _, field = name.partition("/")
        state.setdefault(table, {})[field] = array
    return state, about["groups"], about["counts"]


def _digest(arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
