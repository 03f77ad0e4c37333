"""Intervals by groups of documents: there for few of them, the same however a study is cut, as wide as they should be."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

import headscope
from headscope.statistics import Entropy
from headscope.study.groups import GROUPS, describe, explain, group_size, grouped
from headscope.study.intervals import intervals
from headscope.study.shards import shard_file
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXTS = [f"the {'cat ' * (1 + n * 7 % 9)}sat on {'a dog' if n % 3 else 'the mat'} ." for n in range(70)]


@pytest.fixture(scope="module")
def lens() -> headscope.Lens:
    return headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))


def by_hand(lens: headscope.Lens, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The bootstrap spelled out: draw documents, divide the entropies of what is drawn by its rows.

    1.88 % are left out on either side: 30 documents are few, and the normal quantile 2.08 is sqrt(30 / 29) times
    Student's 2.045.
    """
    weights = [lens.read(text).scores().double() for text in texts]
    sums = np.stack([-(one * one.log()).sum((2, 3)).ravel().numpy() for one in weights])
    rows = np.array([one.shape[2] for one in weights])
    random = np.random.default_rng(1)
    draws = random.integers(len(texts), size=(4000, len(texts)))
    drawn = sums[draws].sum(1) / rows[draws].sum(1)[:, None]
    return np.quantile(drawn, 0.0188, axis=0), np.quantile(drawn, 0.9812, axis=0)


def test_thirty_documents_have_intervals(lens: headscope.Lens, tmp_path: Path) -> None:
    run = headscope.study(lens, TEXTS[:30], ["entropy"], out=tmp_path / "r")
    table = run["entropy"]
    width = table["entropy_high"] - table["entropy_low"]
    for end, expected in zip(("low", "high"), by_hand(lens, TEXTS[:30]), strict=True):
        assert (np.abs(table[f"entropy_{end}"] - expected) < 0.12 * width).all()
    assert run.manifest["intervals"] == {"level": 0.95, "resamples": 1000, "groups": 30, "documents_a_group": 1}
    assert "the 30 documents drawn again" in run.facts["Intervals"]


def test_one_document_has_none_and_says_so(lens: headscope.Lens, tmp_path: Path) -> None:
    run = headscope.study(lens, TEXTS[:1], ["entropy"], out=tmp_path / "r")
    assert run["entropy"]["entropy_low"].isna().all()
    assert "at least two documents" in run.facts["Intervals"]


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents=st.integers(38, 45), shard_size=st.integers(1, 80), batch_size=st.integers(1, 20))
def test_shards_and_batches_do_not_matter(
    lens: headscope.Lens, tmp_path_factory: pytest.TempPathFactory, documents: int, shard_size: int, batch_size: int
) -> None:
    whole, cut = (
        headscope.study(lens, TEXTS[:documents], ["entropy", "distance"], out=tmp_path_factory.mktemp("r") / "r", **feed)
        for feed in ({}, {"shard_size": shard_size, "batch_size": batch_size})
    )
    for name in whole.tables:
        np.testing.assert_allclose(cut[name].iloc[:, 4:], whole[name].iloc[:, 4:], rtol=1e-5)
    assert whole.manifest["intervals"] == cut.manifest["intervals"]


def test_what_was_skipped_is_not_drawn(lens: headscope.Lens, tmp_path: Path) -> None:
    """A document that cannot be read leaves no empty group behind: 20 documents are 20 groups, wherever others stood."""
    too_long = "cat " * 100
    among = [text for pair in zip(TEXTS[:20], [too_long] * 20, strict=True) for text in pair]
    clean, skipped = (
        headscope.study(lens, texts, ["entropy"], out=tmp_path / name, on_error="skip")
        for name, texts in (("clean", TEXTS[:20]), ("skipped", among))
    )
    assert skipped.manifest["counts"] == {**clean.manifest["counts"], "skipped": 20}
    np.testing.assert_allclose(skipped["entropy"].iloc[:, 4:], clean["entropy"].iloc[:, 4:], rtol=1e-6)
    assert skipped.manifest["intervals"]["groups"] == 20


@given(documents=st.integers(1, 10**7))
def test_groups_are_bounded_and_enough(documents: int) -> None:
    groups = -(-documents // group_size(documents))
    assert min(documents, GROUPS // 2) < groups + 1 <= GROUPS + 1


@given(documents=st.integers(1, 300), cuts=st.lists(st.integers(1, 300)), size=st.integers(1, 9))
def test_a_document_is_in_the_same_group_whatever_the_shard(documents: int, cuts: list[int], size: int) -> None:
    places = list(range(documents))
    edges = [0, *sorted({cut for cut in cuts if cut < documents}), documents]
    found: dict[int, list[int]] = {}
    for start, stop in pairwise(edges):
        for group, some in grouped(places[start:stop], start, size).items():
            found.setdefault(group, []).extend(some)
    assert found == grouped(places, 0, size)


def coverage(documents: int, repetitions: int = 400) -> float:
    """How often the interval of a ratio of sums has the truth in it: every entry is a simulated study of its own.

    Documents differ in length by a factor of ten, and long ones have another mean.
    """
    random = np.random.default_rng(0)

    def study(count: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.exp(random.uniform(np.log(10), np.log(100), (count, repetitions)))
        return rows * (1 + 0.2 * np.log(rows) + random.gamma(2, 0.3, rows.shape)), rows

    sums, rows = study(100_000 // repetitions * 40)
    truth = sums.sum() / rows.sum()
    sums, rows = study(documents)
    statistic = Entropy()
    states = [{"entropy": part, "rows": whole} for part, whole in zip(sums, rows, strict=True)]
    low, high = intervals(statistic, states)["entropy"]
    return float(((low <= truth) & (truth <= high)).mean())


def test_the_intervals_cover_what_they_say() -> None:
    assert 0.91 <= coverage(30) <= 0.97
    assert 0.92 <= coverage(GROUPS) <= 0.98
    assert coverage(5) < 0.9, "and with few documents they are too narrow, which is said"
    assert "too narrow" in explain(describe(5, 1))


def test_a_shard_of_an_earlier_version_is_counted_again(lens: headscope.Lens, tmp_path: Path) -> None:
    """Its sums are of the whole shard: they cannot be resampled by groups."""
    run = headscope.study(lens, TEXTS[:30], ["entropy"], out=tmp_path / "r")
    file = shard_file(run.folder, 0)
    before = file.read_bytes()
    with safe_open(file, framework="numpy") as opened:
        about = json.loads(opened.metadata()["headscope"])
        flat = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    del about["groups"]
    save_file(flat, file, {"headscope": json.dumps(about)})
    headscope.study(lens, TEXTS[:30], ["entropy"], out=tmp_path / "r")
    assert file.read_bytes() == before
