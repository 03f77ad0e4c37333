"""A basis by Cholesky spans what the one by SVD does."""

from __future__ import annotations

import pytest
import torch

from headscope.measures.effective import column_basis
from headscope.measures.full_rank_basis import full_rank_basis


def test_a_basis_by_cholesky_spans_what_the_svd_s_does() -> None:
    torch.manual_seed(0)
    plenty, few = torch.randn(5, 40, 6), torch.randn(2, 4, 6)
    plenty[1, :, 3] = plenty[1, :, 0]  # lacks a dimension
    plenty[2, :, 4] = 0
    plenty[3] = 0  # nothing at all
    plenty[4] *= torch.logspace(0, -4, 6)  # badly conditioned, but of full rank
    for transformed in (plenty, few):
        expected, found = column_basis(transformed).double(), full_rank_basis(transformed)
        torch.testing.assert_close(found @ found.mT, expected @ expected.mT, rtol=0, atol=2e-6)
    assert full_rank_basis(plenty).square().sum((1, 2)).round().tolist() == [6, 5, 5, 0, 6]


def test_few_keys_span_all_and_padding_nothing() -> None:
    """Texts of 3, 6 and 20 keys among 20, on 6 dimensions, some of them with a key twice: as the SVD has it, without one."""
    torch.manual_seed(1)
    transformed = torch.randn(3, 4, 20, 6)
    transformed[0, :, 3:] = 0
    transformed[1, :, 6:] = 0
    transformed[0, 3, 2] = transformed[0, 3, 0]
    for some in (transformed, transformed[:2, :, :6], transformed[:1, :, :3], transformed[:, :, 5:]):
        expected, found = column_basis(some).double(), full_rank_basis(some)
        torch.testing.assert_close(found @ found.mT, expected @ expected.mT, rtol=0, atol=2e-6)
    ranks = full_rank_basis(transformed).square().sum((2, 3)).round().tolist()
    assert ranks == [[3, 3, 3, 2], [6, 6, 6, 6], [6, 6, 6, 6]]
    assert torch.equal(full_rank_basis(transformed[:1, :1, :3])[0, 0] @ torch.eye(6, 3).double(), torch.eye(3).double())


def test_no_svd_where_the_rank_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.measures.full_rank_basis.column_basis", None)
    full_rank_basis(torch.randn(2, 3, 40, 6))
    full_rank_basis(torch.randn(2, 3, 4, 6))
