"""Weight and norm of pieces by their frequency: against loops over full tensors, and with more tokens than are kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import headscope
from headscope.errors import InputError
from headscope.files import sha256_of
from headscope.statistics import Frequency, FrequencyCurve
from headscope.statistics.norms.frequencies import Frequencies
from headscope.statistics.norms.token_averages import Averages
from tests.statistics.examples import frequency_file
from tests.statistics.norms import appendix_d
from tests.statistics.norms.by_loops import both, close, texts_by_loops
from tests.statistics.tester import counted, documents, lens_for


@both
def test_frequency_curve_against_loops(family: str) -> None:
    path = frequency_file(family)
    table = counted(FrequencyCurve(path=path), family, documents(family), 3, rows=4).table()
    frequencies = Frequencies.read(path)
    found: dict[int, list[tuple[float, float, float]]] = {}
    for text in texts_by_loops(family):
        for id, weight, norm in zip(text.ids, *appendix_d.averages(text), strict=True):
            if (rank := frequencies.rank(id)) is not None:
                found.setdefault(rank, []).append((frequencies.of(id), weight, norm))
    assert sum(map(len, found.values())) < sum(len(text.ids) for text in texts_by_loops(family))  # some have no rank
    assert table["tokens"].sum() == sum(map(len, found.values()))
    for row in table.to_dict("records"):
        tokens = [token for rank in found if row["rank_low"] <= rank <= row["rank_high"] for token in found[rank]]
        count, weight, norm = np.mean(tokens, 0)
        close([row["tokens"], row["count_mean"], row["weight_mean"], row["norm_mean"]], [len(tokens), count, weight, norm])
        close([row["weight_deviation"], row["norm_deviation"]], np.std(tokens, 0)[1:])


@both
def test_frequency_against_loops(family: str) -> None:
    path = frequency_file(family)
    table = counted(Frequency(path=path), family, documents(family), 3, rows=4).table().set_index("which")
    frequencies = Frequencies.read(path)
    tokens = [
        (frequencies.rank(id), category, weight, norm)
        for text in texts_by_loops(family)
        for id, category, weight, norm in zip(text.ids, text.categories, *appendix_d.averages(text), strict=True)
    ]
    for which, chosen in (("all", tokens), ("without_special", [token for token in tokens if token[1] == "other"])):
        ranks, _, weights, norms = zip(*(token for token in chosen if token[0] is not None), strict=True)
        row = table.loc[which]
        assert row["spearman_rank_weight"] == pytest.approx(spearmanr(ranks, weights).statistic, abs=1e-9)
        least, most = spearman_of_near_ties(ranks, norms)
        # Where some are equal to the last digit, ranks spread less, and rho is a little larger than in any order of them.
        assert least - 1e-4 <= row["spearman_rank_norm"] <= most + 1e-4
        assert most - least < 0.02
        assert (row["tokens"], row["unknown"]) == (len(ranks), len(chosen) - len(ranks))
    assert table["unknown"].max() > 0


def spearman_of_near_ties(ranks: tuple[int, ...], norms: tuple[float, ...]) -> tuple[float, float]:
    """The least and the largest rho: norms of equal tokens are equal but for rounding, which may order them either way."""
    equal = np.round(norms, 5)
    assert np.diff(np.unique(equal)).min() > 5e-5, "no gap between what is equal and what is not"
    orders = [np.argsort(np.lexsort((sign * np.array(ranks), equal))) for sign in (-1, 1)]
    least, most = (float(spearmanr(ranks, order).statistic) for order in orders)
    return least, most


def test_frequency_of_more_tokens_than_are_kept(tmp_path: Path) -> None:
    """With cells instead of pairs: near scipy's value, and the same from parts in any order."""
    rng = np.random.default_rng(0)
    Frequencies({id: 1 + 30_000_000 // (id + 1) for id in range(30_000)}).write(tmp_path / "zipf.txt")
    statistic = Frequency(path=str(tmp_path / "zipf.txt"))
    ids = np.minimum(rng.zipf(1.3, 60_000), 30_000).astype(np.int64) - 1
    norms = 1 + 0.1 * np.log1p(ids) + 0.3 * rng.random(len(ids))
    weights = rng.random(len(ids)) / 128
    parts = []
    for some in np.array_split(np.arange(len(ids)), 5):
        parts.append(statistic.start(lens_for("bert").sites))
        parts[-1].add_tokens(Averages(ids[some], weights[some], norms[some], ids[some] % 3 > 0))
    merged = [statistic.start(lens_for("bert").sites) for _ in range(2)]
    for one, order in zip(merged, ([0, 1, 2, 3, 4], [3, 0, 4, 2, 1]), strict=True):
        for place in order:
            one.merge(parts[place])
    assert all((merged[0].state[name] == array).all() for name, array in merged[1].state.items())
    table = merged[0].table().set_index("which")
    for which, chosen in (("all", ids >= 0), ("without_special", ids % 3 > 0)):
        for name, averages in (("weight", weights), ("norm", norms)):
            exact = spearmanr(ids[chosen], averages[chosen]).statistic
            assert table.loc[which, f"spearman_rank_{name}"] == pytest.approx(exact, abs=0.002)
            assert table.loc[which, f"bound_rank_{name}"] > 0


def test_frequencies_need_a_file_that_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text("1 10 5\n")
    with pytest.raises(InputError, match="needs a frequency file"):
        FrequencyCurve()
    with pytest.raises(InputError, match="There is no frequency file"):
        FrequencyCurve(path=str(tmp_path / "none.txt"))
    begun = FrequencyCurve(path=str(path))
    path.write_text("1 20 5\n")
    with pytest.raises(InputError, match="has changed"):
        begun.start(lens_for("bert").sites)
    assert FrequencyCurve(path=str(path)).frequencies.of(5) == 20


def test_a_run_remembers_the_file_by_its_hash(tmp_path: Path) -> None:
    path = Path(shutil.copy(frequency_file("bert"), tmp_path / "counts.txt"))

    def study() -> headscope.Run:
        return headscope.study(lens_for("bert"), documents("bert"), [Frequency(path=str(path))], out=tmp_path / "run")

    assert study().manifest["settings"]["statistics"]["frequency"]["sha256"] == sha256_of(path)
    path.write_text("1 10 5\n")
    with pytest.raises(InputError, match="sha256"):
        study()
