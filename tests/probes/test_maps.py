"""Maps on the disk: whole or not at all, read back as they were, and noticed when they are not."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.files import CannotWrite
from headscope.probes.maps import ARRAY, MANIFEST, bytes_needed, check_space, load_maps, written_whole

MADE_OF = {"model": "tiny", "measure": "weight"}
LENGTHS, HEADS = [3, 1, 4], 2


def some_maps(lengths: list[int], heads: int) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.random((n, n, heads)).astype(np.float16) for n in lengths]


def save(folder: Path) -> list[np.ndarray]:
    maps = some_maps(LENGTHS, HEADS)
    with written_whole(folder, MADE_OF, LENGTHS, HEADS) as writer:
        for index, alpha in enumerate(maps):
            writer.write(index, alpha)
    return maps


@settings(max_examples=20)
@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6), heads=st.integers(1, 3), data=st.data())
def test_written_in_any_order_and_read_in_any_order(lengths: list[int], heads: int, data: st.DataObject) -> None:
    maps = some_maps(lengths, heads)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "maps"
        with written_whole(folder, MADE_OF, lengths, heads) as writer:
            for index in data.draw(st.permutations(range(len(lengths)))):
                writer.write(index, maps[index])
        found = load_maps(folder, MADE_OF, lengths, heads)
        assert found is not None
        for index in data.draw(st.permutations(range(len(lengths)))):
            np.testing.assert_array_equal(found[index], maps[index])
        whole = np.load(folder / ARRAY, allow_pickle=False)
        np.testing.assert_array_equal(whole, np.concatenate([alpha.ravel() for alpha in maps]))
        assert whole.nbytes == bytes_needed(lengths, heads) == sum(n * n for n in lengths) * heads * 2


def test_an_interruption_leaves_what_was_there(tmp_path: Path) -> None:
    maps = save(tmp_path / "maps")

    def interrupted() -> None:
        with written_whole(tmp_path / "maps", {"other": 1}, LENGTHS, HEADS) as writer:
            writer.write(0, maps[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["maps"]
    assert load_maps(tmp_path / "maps", MADE_OF, LENGTHS, HEADS) is not None


@pytest.mark.parametrize("damage", ["one bit", "cut off", "no array", "no manifest", "half a manifest", "a wrong length"])
def test_damage_is_noticed(tmp_path: Path, damage: str) -> None:
    save(tmp_path / "maps")
    array, manifest = tmp_path / "maps" / ARRAY, tmp_path / "maps" / MANIFEST
    content = bytearray(array.read_bytes())
    about = manifest.read_text()
    if damage == "one bit":
        content[-5] ^= 1
        array.write_bytes(content)
    elif damage == "cut off":
        array.write_bytes(content[:-2])
    elif damage == "no array":
        array.unlink()
    elif damage == "no manifest":
        manifest.unlink()
    elif damage == "half a manifest":
        manifest.write_text(about[: len(about) // 2])
    else:
        manifest.write_text(json.dumps({**json.loads(about), "lengths": [4, 1, 3]}))
    assert load_maps(tmp_path / "maps", MADE_OF, LENGTHS, HEADS) is None


def test_maps_of_something_else_are_noticed(tmp_path: Path) -> None:
    save(tmp_path / "maps")
    assert load_maps(tmp_path / "maps", MADE_OF, LENGTHS, HEADS) is not None
    assert load_maps(tmp_path / "maps", {**MADE_OF, "measure": "norm"}, LENGTHS, HEADS) is None
    assert load_maps(tmp_path / "maps", MADE_OF, [3, 1, 5], HEADS) is None
    assert load_maps(tmp_path / "maps", MADE_OF, LENGTHS, 3) is None


def test_a_disk_that_is_too_small_is_said_before_anything_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=2 * 10**8)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    check_space(tmp_path / "not" / "yet", 10**8)
    with pytest.raises(CannotWrite, match=r"take 0\.76 GB and .* has 0\.20 GB free: .*max_sentences="):
        check_space(tmp_path / "not" / "yet", 760_000_000)


def test_a_disk_that_fills_up_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(CannotWrite, match="disk is full"):
        save(tmp_path / "maps")
    assert not list(tmp_path.iterdir())
