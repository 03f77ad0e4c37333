"""Models whose parts are on a disk, opened by a device map, read as they are without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import headscope
from headscope.lens.doctor import diagnose
from tests.tiny_tokenizers import save_tiny

ON_DISK: dict[str, dict[str, Any]] = {
    "llama": {
        "model.embed_tokens": "cpu",
        "model.layers": "disk",
        "model.norm": "cpu",
        "model.rotary_emb": "cpu",
        "lm_head": "cpu",
    },
    "bert": {"embeddings": "cpu", "encoder": "disk", "pooler": "cpu"},
}


@pytest.mark.parametrize("family", ON_DISK)
def test_a_map_with_a_disk_changes_no_number(family: str, tmp_path: Path) -> None:
    folder = str(save_tiny(family, {"llama": "bpe", "bert": "wordpiece"}[family], tmp_path))
    found = []
    for device_map in (None, ON_DISK[family]):
        with headscope.open(folder, device_map=device_map) as lens:
            assert diagnose(lens).verdict == "ok"
            reading = lens.read("the cat sat on the mat")
            found.append([reading.scores(name) for name in ("weight", "norm", "joint_norm", "block_norm")])
    for plain, offloaded in zip(*found, strict=True):
        torch.testing.assert_close(offloaded, plain, rtol=1e-5, atol=1e-6)
