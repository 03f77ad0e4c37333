"""Divergences of all pairs of heads: against a loop over the pairs, and by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope.errors import InputError
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence
from headscope.statistics import JensenShannon
from headscope.statistics.between_heads import batch_maps
from headscope.statistics.between_heads import divergences as divergences_file
from headscope.statistics.between_heads.batch_maps import evenly
from headscope.statistics.between_heads.divergences import divergences
from headscope.statistics.between_heads.jensen_shannon import distance_matrix, map_divergences
from headscope.text import Corpus, Document
from tests import places
from tests.statistics.tester import assert_same, counted, documents, lens_for

DATA = places.DATA
HALVES = math.log(2) / 2


def loop(maps: np.ndarray) -> np.ndarray:
    """The textbook, in float64: for every two heads (head, row, key), the Kullback-Leibler sums against their mean."""
    found = np.zeros((len(maps), len(maps)))
    for i in range(len(maps)):
        for j in range(i):
            mean = (maps[i] + maps[j]) / 2
            for rows in (maps[i], maps[j]):
                some = rows > 0
                found[i, j] += (rows[some] * np.log(rows[some] / mean[some])).sum() / 2
    return found + found.T


def normalised(maps: torch.Tensor) -> np.ndarray:
    return (maps.double() / maps.double().sum(-1, keepdim=True)).numpy()


def hand_block(maps: Sequence[Sequence[Sequence[float]]], layer: int = 0, batch: Batch | None = None) -> AttentionBlock:
    """One text; the weights (head, row, key) are the numbers given."""
    weights = torch.tensor(maps)[None]
    length = weights.shape[-1]
    site = Site(index=layer, stack="encoder", kind="self", layer=layer, heads=weights.shape[1], key_value_heads=1)
    tokens = [str(token) for token in range(length)]
    sequence = TokenSequence(list(range(length)), tokens, tokens, list(range(length)), [False] * length, [0] * length)
    batch = batch or Batch({"input_ids": torch.arange(length)[None]}, [sequence], [], [Document("by hand")])
    key_side = KeySide(site, torch.ones(1, 1, length, 1), None, None, None)
    return AttentionBlock(site, range(weights.shape[2]), weights, None, key_side, batch)


def table_by_hand(statistic: JensenShannon, *blocks: AttentionBlock) -> pd.DataFrame:
    fresh = statistic.start(list(dict.fromkeys(block.site for block in blocks)))
    for block in blocks:
        fresh.update(block)
    return fresh.table()


# By hand

ONE, OTHER = [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]]
# Row 1 has nothing in common: log 2. Row 2 has the mean (3/4, 1/4) and the entropies log 2 and 0.
SECOND = -0.75 * math.log(0.75) - 0.25 * math.log(0.25) - HALVES


def test_two_heads_and_two_tokens() -> None:
    table = table_by_hand(JensenShannon(), hand_block([ONE, OTHER]))
    expected = {"stack": "encoder", "kind": "self", "layer": 0, "head": 0, "other_layer": 0, "other_head": 1}
    expected |= {
        "divergence": pytest.approx((math.log(2) + SECOND) / 2, rel=1e-4),
        "total": pytest.approx(math.log(2) + SECOND, rel=1e-4),
    }
    assert table.to_dict("records") == [expected]


def test_heads_of_two_layers_wait_for_each_other() -> None:
    first = hand_block([ONE])
    table = table_by_hand(JensenShannon(), first, hand_block([OTHER], layer=1, batch=first.batch))
    assert table["total"].tolist() == pytest.approx([math.log(2) + SECOND], rel=1e-4)
    assert table[["layer", "head", "other_layer", "other_head"]].to_numpy().tolist() == [[0, 0, 1, 0]]


def test_the_released_code_smooths() -> None:
    table = table_by_hand(JensenShannon(variant="code"), hand_block([ONE, OTHER]))
    smoothed = 0.001 / 2 + 0.999 * np.array([ONE, OTHER])
    assert table["total"][0] == pytest.approx(loop(smoothed)[0, 1], rel=1e-4)
    assert table["total"][0] < (math.log(2) + SECOND) * 0.998  # and not what the paper says


def test_a_row_of_nothing_is_left_out_for_its_heads_pairs() -> None:
    third = [[0.0, 0.0], [0.25, 0.25]]  # gives nothing in row 1, and half in row 2: as head 0 there
    table = table_by_hand(JensenShannon(), hand_block([ONE, OTHER, third]))
    assert table["divergence"].tolist() == pytest.approx([(math.log(2) + SECOND) / 2, 0, SECOND], rel=1e-4, abs=1e-7)
    assert table["total"].tolist() == pytest.approx([math.log(2) + SECOND, 0, SECOND], rel=1e-4, abs=1e-7)


def test_a_head_that_never_gives_anything_has_no_distance() -> None:
    nothing = [[0.0, 0.0], [0.0, 0.0]]
    table = table_by_hand(JensenShannon(), hand_block([ONE, OTHER, nothing]))
    assert table["divergence"].isna().tolist() == [False, True, True]


def test_negative_scores_count_as_nothing() -> None:
    maps = torch.tensor([[[0.5, 0.5, -0.3]], [[-0.1, 0.2, 0.2]]])
    assert map_divergences(maps)[0] == pytest.approx(loop(normalised(maps.clamp(min=0))), rel=1e-4)


# The formula against the loop


@settings(max_examples=40)
@given(
    heads=st.integers(2, 9),
    rows=st.integers(1, 12),
    keys=st.integers(2, 40),
    sharpness=st.floats(0.01, 20),
    apart=st.floats(1e-4, 1),
    unseen=st.floats(0, 0.8),
    seed=st.integers(0, 999),
)
def test_all_pairs_equal_the_loop(
    heads: int, rows: int, keys: int, sharpness: float, apart: float, unseen: float, seed: int
) -> None:
    """From heads that look everywhere to heads that look at one key, from near twins to strangers, with masks."""
    generator = torch.Generator().manual_seed(seed)
    common = torch.randn(rows, keys, generator=generator)
    logits = sharpness * (common + apart * torch.randn(heads, rows, keys, generator=generator))
    logits[:, torch.rand(rows, keys, generator=generator) < unseen] = -math.inf
    maps = logits.softmax(-1).nan_to_num()
    found, counted_rows = map_divergences(maps)
    some = maps.sum(-1).gt(0).all(0)
    if some.any():
        expected = loop(normalised(maps[:, some]))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-11 * rows)
    assert (counted_rows == some.sum().item()).all()


def test_the_shape_of_bert_base_and_near_twins() -> None:
    """Twins whose JS is about 1e-4, 1e-6 and 1e-8, and 0, among 30 heads of 128 tokens, within 1e-4 of float64."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(30, 128, 128, generator=generator) * torch.logspace(-1, 1, 30)[:, None, None]
    for place, apart in enumerate((3e-2, 3e-3, 3e-4, 0)):
        logits[2 * place] = 3 * torch.randn(128, 128, generator=generator)
        logits[2 * place + 1] = logits[2 * place] + apart * torch.randn(128, 128, generator=generator)
    maps = logits.softmax(-1)
    found, expected = map_divergences(maps)[0], loop(normalised(maps))
    twins = [expected[2 * place, 2 * place + 1] / 128 for place in range(4)]
    assert twins == pytest.approx([1e-4, 1e-6, 1e-8, 0], rel=0.5, abs=1e-20)
    assert found[6, 7] == 0
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert (found == found.T).all()


@pytest.mark.parametrize("apart", [1e-2, 3e-3])
def test_heads_that_are_nearly_the_same_in_a_few_positions(apart: float) -> None:
    """Here float32 has too few digits, and too few positions for its errors to cancel."""
    generator = torch.Generator().manual_seed(0)
    maps = (torch.randn(1, 2, 3, generator=generator) + apart * torch.randn(20, 2, 3, generator=generator)).softmax(-1)
    np.testing.assert_allclose(map_divergences(maps)[0], loop(normalised(maps)), rtol=1e-4)


@pytest.mark.parametrize("shape", [(1, 8), (2, 3), (5, 5), (20, 20), (4, 600)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weights_of_all_sizes(shape: tuple[int, int], seed: int) -> None:
    """Weights from 1 to 1e-10, also beside one key that gets nearly all."""
    generator = torch.Generator().manual_seed(seed)
    any_size = 10 ** (-10 * torch.rand(20, *shape, generator=generator))
    small = 10 ** (-1 - 8 * torch.rand(20, 1, 1, generator=generator) - 2 * torch.rand(20, *shape, generator=generator))
    small[:, :, 0] = 1
    for maps in (any_size, small):
        np.testing.assert_allclose(map_divergences(maps)[0], loop(normalised(maps)), rtol=1e-4, atol=1e-11)


def test_differences_in_what_is_hardly_looked_at() -> None:
    """Heads that agree on one key, but for a little in every fourth row, and give next to nothing to the others."""
    generator = torch.Generator().manual_seed(0)
    maps = 10 ** (-5 - 5 * torch.rand(12, 1, 1, generator=generator) - 2 * torch.rand(12, 128, 128, generator=generator))
    maps[:, :, 0] = 1
    maps[:, ::4, 1] = 0.001 * torch.rand(12, 1, generator=generator)
    np.testing.assert_allclose(map_divergences(maps)[0], loop(normalised(maps)), rtol=1e-4)


@pytest.mark.parametrize("apart", [0.3, 0.01])
def test_other_devices_come_to_the_same(apart: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By PyTorch's operations, which every device has: heads that are alike, and heads that are not."""
    generator = torch.Generator().manual_seed(0)
    common = 6 * torch.randn(1, 64, 128, generator=generator)
    maps = (common + apart * torch.randn(16, 64, 128, generator=generator)).softmax(-1)
    compiled = map_divergences(maps)[0]
    monkeypatch.setattr(divergences_file, "on_cpu", lambda *tensors: False)
    by_operations = map_divergences(maps)[0]
    np.testing.assert_allclose(by_operations, loop(normalised(maps)), rtol=1e-5)
    np.testing.assert_allclose(compiled, by_operations, rtol=1e-4)


def test_threads_share_the_work_and_leave_the_number_of_threads_alone() -> None:
    before = torch.get_num_threads()
    generator = torch.Generator().manual_seed(0)
    maps = torch.randn(5, 60, 60, generator=generator).softmax(-1)
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(map_divergences(maps)[0])
            assert torch.get_num_threads() == threads
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(torch.get_num_threads).result() == threads
    finally:
        torch.set_num_threads(before)
    for other in found:
        np.testing.assert_allclose(other, loop(normalised(maps)), rtol=1e-4)


def test_no_positions() -> None:
    assert (divergences(torch.zeros(3, 0)) == 0).all()


# Whole maps


@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
@pytest.mark.parametrize("most", [128, 3])
def test_the_table_equals_a_loop_over_full_maps(family: str, most: int) -> None:
    table = counted(JensenShannon(rows=most), family, documents(family), batch_size=3, rows=4).table()
    groups = table.groupby(["stack", "kind"], sort=False)
    assert len(groups) == (3 if family == "marian" else 1)
    for (stack, kind), pairs in groups:
        total, rows = 0, 0
        for document in documents(family):
            maps = lens_for(family).read(document).scores("weight", stack=stack, kind=kind).flatten(0, 1)
            maps = maps[:, evenly(maps.shape[1], most)]
            total, rows = total + loop(normalised(maps)), rows + maps.shape[1]
        labels, matrix = distance_matrix(pairs)
        assert labels[["layer", "head"]].to_numpy().tolist() == [[h // 4, h % 4] for h in range(len(labels))]
        np.testing.assert_allclose(matrix, total / rows, rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(distance_matrix(pairs, "total")[1], total, rtol=1e-4, atol=1e-9)


def test_long_rows_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_maps, "LONG", 2)
    statistic = JensenShannon(rows=8).start([hand_block([ONE]).site])
    four = hand_block([np.full((4, 4), 0.25).tolist()])
    held = batch_maps.BatchMaps(four, statistic.heads, statistic.rows)
    assert held.texts[0].scores.shape == (1, 4, 4)
    sixteen = hand_block([np.full((16, 16), 1 / 16).tolist()])
    assert batch_maps.BatchMaps(sixteen, statistic.heads, statistic.rows).texts[0].rows.tolist() == [0]


@pytest.mark.parametrize("before", [slice(0, 2), slice(2, 4)])
def test_a_batch_that_was_broken_off_does_not_count(before: slice) -> None:
    lens = lens_for("bert")
    batch = lens.encoder.batch(documents("bert")[:2])
    whole = JensenShannon().start(lens.sites)
    lens.run(batch, whole.update)
    broken = JensenShannon().start(lens.sites)
    other = batch if before.start == 0 else lens.encoder.batch(documents("bert")[before])
    lens.run(other, lambda block: broken.update(block) if block.site.layer == 0 else None)
    assert not broken.state["rows"].any()
    lens.run(batch, broken.update)
    assert_same(broken, whole, tolerance=0)


def test_the_same_batch_twice_counts_twice() -> None:
    lens = lens_for("bert")
    batch = lens.encoder.batch(documents("bert")[:2])
    statistic = JensenShannon().start(lens.sites)
    lens.run(batch, statistic.update)
    once = statistic.state["rows"].copy()
    lens.run(batch, statistic.update)
    assert (statistic.state["rows"] == 2 * once).all()
    assert not statistic._held


def test_attentions_with_other_keys_cannot_be_compared() -> None:
    first = hand_block([ONE])
    longer = hand_block([[[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]]], layer=1, batch=first.batch)
    with pytest.raises(InputError, match="encoder self layer 1 has other keys"):
        table_by_hand(JensenShannon(), first, longer)


# Settings and tables


def test_settings() -> None:
    assert [JensenShannon(**chosen).table_name for chosen in ({}, {"variant": "code"}, {"level": "word"})] == [
        "jensen_shannon",
        "jensen_shannon_code",
        "jensen_shannon_words",
    ]
    with pytest.raises(InputError, match="variant='paper' or 'code'"):
        JensenShannon(variant="smooth")
    with pytest.raises(InputError, match="rows=1 or more"):
        JensenShannon(rows=0)


def test_distances_of_several_groups_are_asked_for_one_by_one() -> None:
    table = counted(JensenShannon(), "marian", documents("marian")).table()
    with pytest.raises(InputError, match="encoder self, decoder self, decoder cross: choose one"):
        distance_matrix(table)
    labels, matrix = distance_matrix(table[table["kind"] == "cross"])
    assert len(labels) == len(matrix) == 8
    _, partly = distance_matrix(table[table["kind"] == "cross"].iloc[1:])
    assert np.isnan(partly[0, 1])
    assert not np.isnan(partly[0, 2:]).any()


def test_distances_between_layers() -> None:
    """A joint measure has one map a layer, and no heads."""
    labels, matrix = distance_matrix(counted(JensenShannon("joint_norm"), "bert", documents("bert")).table())
    assert labels["layer"].tolist() == [0, 1, 2]
    assert labels["head"].isna().all()
    assert (matrix[np.triu_indices(3, 1)] > 0).all()


# Real data


@pytest.mark.real
@pytest.mark.slow
def test_fifty_real_sentences(minilm: Path) -> None:
    path = DATA / "treebank" / "en_ewt-ud-dev.conllu"
    if not path.is_file():
        pytest.skip(f"the treebank {path} is not here: name its folder with HEADSCOPE_DATA")
    sentences = list(Corpus.of(path))[:50]
    with headscope.open(minilm) as lens:
        _, found = distance_matrix(headscope.study(lens, sentences, ["jensen_shannon"])["jensen_shannon"])
        total, rows = 0, 0
        for sentence in sentences:
            maps = lens.read(sentence).scores("weight").flatten(0, 1)
            total, rows = total + loop(normalised(maps)), rows + maps.shape[1]
    np.testing.assert_allclose(found, total / rows, rtol=1e-4)
