"""The closed forms on numbers that a person can check."""

import math

import torch

from headscope.measures.effective import column_basis, effective_weights
from headscope.measures.joint_norm import head_grams, joint_norms
from headscope.measures.value_norm import value_norms


def test_value_norm_by_hand() -> None:
    # One head of two dimensions; W_O sends (1, 0) to (3, 4, 0) and (0, 1) to (0, 0, 2).
    matrix = torch.tensor([[3.0, 4.0, 0.0], [0.0, 0.0, 2.0]])
    root = torch.linalg.qr(matrix.T).R.T
    values = torch.tensor([[[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]])
    norms = value_norms(values, root[None])
    torch.testing.assert_close(norms[0, 0], torch.tensor([5.0, 2.0, math.sqrt(29)]))


def test_value_norm_of_grouped_heads_by_hand() -> None:
    # Two heads share one value vector; the second head's W_O is twice the first's.
    roots = torch.stack([torch.eye(2), 2 * torch.eye(2)])
    values = torch.tensor([[[[3.0, 4.0]]]])  # one text, one group, one key
    torch.testing.assert_close(value_norms(values, roots)[0, :, 0], torch.tensor([5.0, 10.0]))


def test_joint_norm_by_hand() -> None:
    # Two heads of one dimension. At key 0 they point the same way, at key 1 against each other.
    values = torch.tensor([[[[1.0], [1.0]], [[1.0], [-1.0]]]])  # batch head key d_head
    inner = torch.ones(2, 2, 1, 1)  # both write to the one dimension of the model, with W_O = 1
    weights = torch.tensor([[[[0.5, 0.5]], [[0.25, 0.75]]]])  # batch head row key
    norms = joint_norms(weights, head_grams(values, inner))
    torch.testing.assert_close(norms, torch.tensor([[[[0.75, 0.25]]]]))


def test_effective_attention_by_hand() -> None:
    # Two tokens with the same value: only the sum of their weights can be seen, so each gets half of it.
    transformed = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    weights = torch.tensor([[0.6, 0.2, 0.2]])
    torch.testing.assert_close(effective_weights(weights, column_basis(transformed)), torch.tensor([[0.4, 0.4, 0.2]]))


def test_effective_attention_is_the_weights_when_no_token_repeats_another() -> None:
    weights = torch.tensor([[0.7, 0.3]])
    torch.testing.assert_close(effective_weights(weights, column_basis(torch.eye(2))), weights)
