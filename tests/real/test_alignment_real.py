"""opus-mt-fr-en on the Hansards pairs: the error rates that an independent textbook computation found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import headscope
from headscope.alignment import align
from headscope.alignment.gold import with_gold
from headscope.text.parallel import parallel_documents
from tests.conftest import SHARED

pytestmark = [pytest.mark.real, pytest.mark.slow]

DATA = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data"))
LAYERS = {
    ("AWI", "norm"): [14.21, 11.38, 11.70, 30.25, 77.26, 81.09],
    ("AWI", "weight"): [83.99, 58.47, 14.62, 32.21, 90.08, 89.67],
    ("AWO", "norm"): [84.36, 82.45, 75.96, 61.19, 25.06, 35.64],
    ("AWO", "weight"): [98.48, 96.15, 86.88, 70.18, 28.81, 51.84],
}
HEADS = {"weight": ("1.7", 7.97), "norm": ("2.3", 8.47)}


def test_error_rates_on_hansards(opus: Path, tmp_path: Path) -> None:
    folder = DATA / "alignment" / "hansards"
    if not folder.is_dir():
        pytest.skip("no Hansards pairs in ../shared/data")
    corpus = with_gold(
        parallel_documents(folder / "en-fr.txt", first="target"), folder / "en-fr.gold", base=1, first="target"
    )
    with headscope.open(opus) as lens:
        run = align(lens, corpus, out=tmp_path / "run")
    layers = run["aer_layers"].set_index(["setting", "measure"])
    for place, expected in LAYERS.items():
        assert (100 * layers.loc[place].sort_values("layer")["aer"]).tolist() == pytest.approx(expected, abs=0.1)
    heads = run["aer_heads"].query("setting == 'AWI'")
    for measure, (label, expected_best) in HEADS.items():
        best = heads[heads["measure"] == measure].nsmallest(1, "aer").iloc[0]
        assert f"{best['layer']}.{best['head']}" == label
        assert 100 * best["aer"] == pytest.approx(expected_best, abs=0.1)
    assert 100 * run["align_scores"]["aer"][0] == pytest.approx(11.70, abs=0.1)  # the layer with the highest average norm
