"""How much ||f(x)|| and ||x|| differ between tokens: against loops over full tensors, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from headscope.statistics import Dispersion, InputDispersion
from headscope.study.intervals import intervals
from tests.statistics.norms import appendix_d
from tests.statistics.norms.by_hand import ONE, OTHER, table_of
from tests.statistics.norms.by_loops import both, close, texts_by_loops
from tests.statistics.tester import block_by_hand, counted, documents, lens_for


@both
def test_dispersion_against_loops(family: str) -> None:
    table, texts = counted(Dispersion(), family, documents(family), 3, rows=4).table(), texts_by_loops(family)
    for row in table.to_dict("records"):
        expected = appendix_d.dispersion(texts, row["layer"], row["head"])
        close([row[name] for name in expected], list(expected.values()))


def test_dispersion_by_hand() -> None:
    found = table_of(Dispersion(), ONE, OTHER)
    mean, deviation = 2.4, np.sqrt(((2 - 2.4) ** 2 + 2 * (1 - 2.4) ** 2 + 2 * (4 - 2.4) ** 2) / 5)
    assert [found[name] for name in ("mean", "deviation", "cv")] == pytest.approx([mean, deviation, deviation / mean])
    assert [found[name] for name in ("largest", "smallest", "vectors")] == [4, 1, 5]


def test_input_dispersion_by_hand_leaves_padding_out() -> None:
    block = block_by_hand([[0.5, 0.5, 0.0]] * 2, ["a", "b", "c"])
    block.key_mask = torch.tensor([[True, True, False]])
    block.key_side.inputs = torch.tensor([[[3.0, 4.0], [0.0, 1.0], [100.0, 0.0]]])  # type: ignore[attr-defined]
    found = table_of(InputDispersion(), block)
    assert [found[name] for name in ("mean", "deviation", "largest", "smallest", "vectors")] == [3, 2, 5, 1, 2]
    assert pd.isna(found["head"])


def test_input_dispersion_has_one_row_a_layer() -> None:
    table = InputDispersion().start(lens_for("bert").sites).table()
    assert table["layer"].tolist() == [0, 1, 2]
    assert table["head"].isna().all()


def test_intervals_of_dispersion_do_not_see_the_extremes() -> None:
    parts = [counted(Dispersion(), "bert", [document]) for document in documents("bert")]
    whole = Dispersion().start(lens_for("bert").sites)
    for part in parts:
        whole.merge(part)
    found = intervals(whole, [part.state for part in parts])
    assert set(found) == {"mean", "deviation", "cv"}
    for name, (low, high) in found.items():
        assert (low <= whole.table()[name]).all()
        assert (high >= whole.table()[name]).all()
