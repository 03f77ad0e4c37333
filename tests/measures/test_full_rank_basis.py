"""A basis by Cholesky spans what the one by SVD does."""

from __future__ import annotations

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
