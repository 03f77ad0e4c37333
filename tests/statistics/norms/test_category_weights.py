"""Weights and norms by token category: against loops over full tensors, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from headscope.statistics import CategoryWeights
from headscope.statistics.kit.categories import USUAL
from headscope.statistics.norms.category_weights import layer_means
from tests.statistics.norms import appendix_d
from tests.statistics.norms.by_hand import ONE, OTHER, table_of
from tests.statistics.norms.by_loops import both, by_head, close, texts_by_loops
from tests.statistics.tester import counted, documents, lens_for


@both
def test_category_weights_against_loops(family: str) -> None:
    table, texts = counted(CategoryWeights(), family, documents(family), 3, rows=4).table(), texts_by_loops(family)
    assert {category for text in texts for category in text.categories} == set(USUAL)
    for row in table.to_dict("records"):
        expected = {name: appendix_d.heads_of(texts, name, row["layer"], row["head"]) for name in USUAL}
        whole = sum(expected[name]["norm"] for name in USUAL)
        for name in USUAL:
            close([row[f"{field}_{name}"] for field in expected[name]], list(expected[name].values()))
            close(row[f"share_norm_{name}"], expected[name]["norm"] / whole)
        assert row["texts"] == len(texts)
    close(sum(by_head(table, f"weight_{name}") for name in USUAL), 1)  # every row of weights sums to 1


@both
def test_joint_norms_by_category_against_loops(family: str) -> None:
    statistic = CategoryWeights(measure="joint_norm")
    table, texts = counted(statistic, family, documents(family), 3, rows=4).table(), texts_by_loops(family)
    assert statistic.table_name == "category_weights_joint_norm"
    assert table["head"].isna().all()
    assert not any(column.startswith(("weight", "value_norm")) for column in table)
    for layer, row in enumerate(table.to_dict("records")):
        expected = [appendix_d.joint_of(texts, name, layer) for name in USUAL]
        close([row[f"norm_{name}"] for name in USUAL], expected)
        close([row[f"share_norm_{name}"] for name in USUAL], np.array(expected) / sum(expected))


def test_cross_attention_against_full_maps() -> None:
    """Rows are the target's and keys the source's: means are over the former, categories are of the latter."""
    lens, chosen = lens_for("marian"), documents("marian")
    weights = counted(CategoryWeights(), "marian", chosen, 3, rows=4).table().query("kind == 'cross'")
    separator = []
    for document in chosen:
        reading = lens.read(document)
        alpha = reading.scores("weight", kind="cross").double().numpy()
        separator.append(alpha.mean(2)[..., [token == "</s>" for token in reading.tokens]].sum(-1))
    close(by_head(weights, "weight_separator"), np.mean(separator, 0).ravel())


def test_category_weights_by_hand() -> None:
    found = table_of(CategoryWeights(), ONE, OTHER)
    # Weight([CLS]) is (0.5 + 0.25 + 0) / 3 = 1/4 in the first text, and in the second (0.5 + 0) / 2 = 1/4.
    assert found["weight_first"] == pytest.approx(1 / 4)
    assert found["weight_separator"] == pytest.approx((1 / 3 + 0) / 2)  # over both texts
    assert found["norm_first"] == pytest.approx((1 / 4 * 2 + 1 / 4 * 4) / 2)
    assert found["norm_separator"] == pytest.approx((1 / 3 * 4 + 0) / 2)
    assert found["value_norm_first"] == pytest.approx((2 + 4) / 2)
    assert found["value_norm_separator"] == pytest.approx(4)  # over the text that has one
    assert (found["texts"], found["texts_first"], found["texts_separator"]) == (2, 2, 1)
    assert found["share_norm_first"] == pytest.approx(0.75 / (0.75 + 2 / 3 + (5 / 12) / 2 + (3 / 4) / 2))


def test_a_category_that_no_text_has() -> None:
    found = table_of(CategoryWeights(categories={"none": "xyz"}), OTHER)
    assert found["weight_none"] == found["norm_none"] == found["texts_none"] == 0
    assert np.isnan(found["value_norm_none"])


def test_layer_means_by_hand() -> None:
    table = pd.DataFrame(
        {
            "stack": ["encoder"] * 3,
            "kind": ["self"] * 3,
            "layer": [0, 0, 1],
            "head": [0, 1, 0],
            "weight_first": [0.5, 0.25, 1.0],
            "norm_first": [1.0, 3.0, 1.0],
            "norm_other": [1.0, 1.0, 3.0],
            "share_norm_first": [0.5, 0.75, 0.25],
            "share_norm_other": [0.5, 0.25, 0.75],
            "weight_first_low": [0.0] * 3,
        }
    )
    found = layer_means(table)
    assert found["layer"].tolist() == [0, 1]
    assert found["weight_first"].tolist() == [0.375, 1.0]
    assert found["norm_first"].tolist() == [2.0, 1.0]
    assert found["share_norm_first"].tolist() == pytest.approx([2 / 3, 1 / 4])  # of the means, not the mean of shares
    assert not {"head", "weight_first_low"} & set(found)


def test_a_category_may_be_called_low() -> None:
    table = counted(CategoryWeights(categories={"low": "cat", "high": "dog"}), "bert", documents("bert")).table()
    assert {"weight_low", "norm_high", "share_norm_low"} <= set(layer_means(table))


def test_layer_means_of_a_model() -> None:
    table = counted(CategoryWeights(), "bert", documents("bert")).table()
    found = layer_means(table)
    assert len(found) == 3
    close(found["norm_other"][1], by_head(table.query("layer == 1"), "norm_other").mean())
