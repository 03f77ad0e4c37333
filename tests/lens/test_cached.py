"""What is computed from a block, a side or a batch is computed once, and never taken for something else."""

from __future__ import annotations

from torch import Tensor

from headscope.lens.block import AttentionBlock
from headscope.statistics.kit.annotations import label_masks
from headscope.statistics.kit.categories import key_categories
from headscope.statistics.kit.key_masks import is_comma, is_period, keys_where
from headscope.statistics.kit.row_sums import given
from headscope.statistics.kit.totals import received
from headscope.text import Document
from tests.statistics.tester import block_by_hand


def block() -> AttentionBlock:
    return block_by_hand([[0.5, 0.5], [0.25, 0.75]], [".", ","])


def test_a_value_is_computed_once_for_its_arguments() -> None:
    calls = []

    def scaled(some: AttentionBlock, by: float) -> Tensor:
        calls.append(by)
        return some.weights * by

    made = block()
    assert made.cached(scaled, 2.0) is made.cached(scaled, 2.0)
    assert made.cached(scaled, 3.0).sum() == 6
    assert block().cached(scaled, 2.0) is not made.cached(scaled, 2.0)
    assert calls == [2.0, 3.0, 2.0]


def test_another_function_or_argument_is_another_value() -> None:
    made = block()
    assert made.cached(received, "weight").tolist() == [[[0.75, 1.25]]]
    assert made.cached(given, "weight").tolist() == [[[1, 1]]]
    assert keys_where(made, is_period).tolist() == [[1, 0]]
    assert keys_where(made, is_comma).tolist() == [[0, 1]]
    assert key_categories(made, {"mine": "."})[0, 0] != key_categories(made, {"yours": ",", "mine": "."})[0, 0]


def test_two_layers_of_a_document_and_two_sides_are_told_apart() -> None:
    made = block()
    made.batch.documents = [Document(words=[".", ","], tags=["A", "B"], parents=[1, -1], relations=["x", "root"])]
    found = [made.batch.cached(label_masks, made.attended, layer)[0] for layer in ("tags", "relations", "tags")]
    assert found == [["A", "B"], ["root", "x"], ["A", "B"]]
    assert made.attending is made.attended, "self attention: what attends is what is attended to"
