"""Heads in a plane and in clusters: on points that are known, by hand, and on a real model."""

from __future__ import annotations

import re
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

import headscope
from headscope.errors import InputError
from headscope.heads.clusters import classical_scaling, clusters, embed, nearest_heads, nearest_in_layer, stress
from headscope.statistics.between_heads.jensen_shannon import distance_matrix
from headscope.text import Corpus
from tests import places
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

PAGE = places.DOCS / "how-to" / "cluster-heads.md"
DATA = places.DATA


def distances(points: np.ndarray) -> np.ndarray:
    return squareform(pdist(points))


def heads(layers: int, each: int) -> pd.DataFrame:
    rows = [("encoder", "self", layer, head) for layer in range(layers) for head in range(each)]
    return pd.DataFrame(rows, columns=["stack", "kind", "layer", "head"])


def groups(sizes: list[int], seed: int = 0) -> np.ndarray:
    """Points around far corners of a square, one corner after the other."""
    corners = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])
    random = np.random.default_rng(seed)
    return np.concatenate([corners[place] + random.normal(size=(size, 2)) * 0.3 for place, size in enumerate(sizes)])


# Multidimensional scaling


@given(seed=st.integers(0, 999), count=st.integers(3, 12))
def test_points_of_a_plane_are_found_again(seed: int, count: int) -> None:
    points = np.random.default_rng(seed).normal(size=(count, 2))
    found = embed(distances(points), seed=seed)
    assert found.stress < 1e-3
    np.testing.assert_allclose(distances(found.points), distances(points), atol=1e-2)


def test_turned_and_mirrored_points_come_out_the_same() -> None:
    points = groups([3, 4, 2])
    turned = points @ np.array([[0.6, 0.8], [0.8, -0.6]]) + 5
    one, other = embed(distances(points)), embed(distances(turned))
    np.testing.assert_allclose(one.points, other.points, atol=1e-6)
    assert one.points.var(0)[0] > one.points.var(0)[1]
    assert (one.points.max(0) == np.abs(one.points).max(0)).all()
    np.testing.assert_allclose(one.points.mean(0), 0, atol=1e-9)


def test_the_same_seed_gives_the_same_points_without_warnings() -> None:
    matrix = distances(np.random.default_rng(0).normal(size=(20, 6)))  # no plane has these distances
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = embed(matrix, seed=3), embed(matrix, seed=3)
    assert (one.points == other.points).all()
    assert 0.05 < one.stress < 0.5
    assert one.stress <= stress(matrix, classical_scaling(matrix))
    assert one.stress == stress(matrix, one.points)


def test_stress_by_hand() -> None:
    """A triangle of sides 1, 1, 2 as points 0, 1, 1 on a line: (2 - 1)^2 + (1 - 0)^2 over 1 + 1."""
    matrix = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert stress(matrix, np.array([[0.0, 0], [1, 0], [1, 0]])) == pytest.approx(1)
    assert stress(matrix, np.array([[0.0, 0], [1, 0], [2, 0]])) == 0


# Clusters


@pytest.mark.parametrize("sizes", [[4, 5], [3, 3, 3], [5, 2, 4, 4], [8, 3]])
def test_the_number_of_clusters_is_found(sizes: list[int]) -> None:
    matrix = distances(groups(sizes))
    table = clusters(heads(1, len(matrix)), matrix)
    assert table["cluster"].tolist() == [place for place, size in enumerate(sizes) for _ in range(size)]
    assert (table["silhouette"] > 0.7).all()


def test_one_odd_head_does_not_make_a_clustering() -> None:
    points = np.concatenate([groups([6, 6]) * 0.5, [[99.0, 99.0]]])
    table = clusters(heads(1, 13), distances(points))
    assert table["cluster"].tolist() == [0] * 6 + [1] * 6 + [2]


@given(order=st.permutations(range(9)))
def test_the_order_of_heads_only_changes_their_numbers(order: list[int]) -> None:
    matrix = distances(groups([2, 3, 4]))
    table = clusters(heads(1, 9), matrix[np.ix_(order, order)])
    expected = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])[order]
    assert len(set(zip(expected, table["cluster"], strict=True))) == 3
    assert table["cluster"].drop_duplicates().tolist() == [0, 1, 2]


def test_a_given_number_of_clusters() -> None:
    matrix = distances(groups([3, 3, 3]))
    for count in (1, 2, 5, 9):
        table = clusters(heads(3, 3), matrix, count=count)
        assert table["cluster"].nunique() == count
    assert (table["silhouette"] == 0).all()
    for count in (0, 10):
        with pytest.raises(InputError, match="9 heads make from 1 to 9 clusters"):
            clusters(heads(3, 3), matrix, count=count)


# Nearest heads, by hand: on a line at 0, 1, 3 (layer 0), 3.5, 9, 9.1 (layer 1)

LINE = distances(np.array([[0.0], [1], [3], [3.5], [9], [9.1]]))


def test_nearest_heads() -> None:
    nearest, apart = nearest_heads(LINE)
    assert nearest.tolist() == [1, 0, 3, 2, 5, 4]
    assert apart.tolist() == pytest.approx([1, 1, 0.5, 0.5, 0.1, 0.1])
    table = clusters(heads(2, 3), LINE)
    assert table[["nearest_layer", "nearest_head"]].to_numpy().tolist() == [[0, 1], [0, 0], [1, 0], [0, 2], [1, 2], [1, 1]]
    assert table["distance"].tolist() == apart.tolist()


def test_nearest_in_the_same_layer() -> None:
    found = nearest_in_layer(heads(2, 3), LINE)
    assert found.share == pytest.approx(4 / 6)
    assert found.chance == pytest.approx(2 / 5)


def test_chance_is_what_shuffled_layers_give() -> None:
    labels = pd.concat([heads(1, 5), heads(3, 2).assign(layer=[7, 7, 8, 8, 9, 9])])
    matrix = distances(np.random.default_rng(0).normal(size=(11, 3)))
    random = np.random.default_rng(1)
    shuffled = [nearest_in_layer(labels.sample(frac=1, random_state=random), matrix).share for _ in range(2000)]
    assert np.mean(shuffled) == pytest.approx(nearest_in_layer(labels, matrix).chance, abs=0.01)


# What cannot be done


def test_errors() -> None:
    with pytest.raises(InputError, match="at least three heads"):
        clusters(heads(1, 2), distances(groups([2])))
    with pytest.raises(InputError, match="have no distance"):
        embed(np.where(np.eye(4) > 0, 0, np.nan))
    with pytest.raises(InputError, match="do not differ"):
        embed(np.zeros((4, 4)))


# The how-to page


def test_the_page_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "wiki.txt").write_text("The cat sat on the mat.\n\nA dog, two dogs.\n")
    monkeypatch.chdir(tmp_path)
    model, tokenizer = tiny("bert"), tiny_tokenizer("wordpiece")
    monkeypatch.setattr(headscope, "open", lambda name: headscope.lens.open(model, tokenizer))
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["distances"].shape == (12, 12)
    printed = capsys.readouterr().out
    assert "stress 0." in printed
    assert "by chance, for 27%." in printed


# Real heads


@pytest.mark.real
@pytest.mark.slow
def test_heads_of_one_layer_are_close_in_a_trained_model_only(minilm: Path) -> None:
    """clark2019, section 6, on another model: and its randomly initialised twin is at chance."""
    path = DATA / "text" / "wikitext2-raw-test.txt"
    if not path.is_file():
        pytest.skip(f"the text {path} is not here: name the data folder with HEADSCOPE_DATA")
    texts = list(islice(Corpus.from_files(path, format="paragraph-pairs"), 12))
    found = []
    for seed in (None, 0):
        with headscope.open(minilm, random_init=seed) as lens:
            run = headscope.study(lens, texts, ["jensen_shannon"], max_tokens=64, truncate=True)
        labels, matrix = distance_matrix(run["jensen_shannon"])
        found.append(nearest_in_layer(labels, matrix))
        assert embed(matrix).stress < 0.5
        assert clusters(labels, matrix)["cluster"].nunique() >= 2
    trained, untrained = found
    assert trained.chance == untrained.chance == pytest.approx(11 / 71)
    assert trained.share > 0.45
    assert untrained.share < 0.3
