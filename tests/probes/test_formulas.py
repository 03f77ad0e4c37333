"""Every probe against the paper's formula written as loops, and by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import headscope
from headscope.probes import Examples, RightBranching, Vectors, read_treebank, word_maps
from headscope.probes.attention import attention_logits, attention_words_logits
from headscope.probes.base import NO_HEAD, Sentences, cross_entropy, head_log_probabilities
from headscope.probes.baselines import FEATURES, SHORT, DistancesProbe, distance_features
from headscope.text import Document
from tests.probes.planted import documents, noise, stored


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def attention_by_loops(alpha: Tensor, w: Tensor, u: Tensor) -> Tensor:
    """sum_k w_k alpha^k_ij + u_k alpha^k_ji for one sentence: row j, column i."""
    n, heads = alpha.shape[0], alpha.shape[2]
    logits = torch.zeros(n, n, dtype=torch.float64)
    for j in range(n):
        for i in range(n):
            for k in range(heads):
                logits[j, i] += w[k] * alpha[i, j, k] + u[k] * alpha[j, i, k]
    return logits


def attention_words_by_loops(alpha: Tensor, v: Tensor, W: Tensor, U: Tensor) -> Tensor:
    """sum_k W_k (v_i ⊕ v_j) alpha^k_ij + U_k (v_i ⊕ v_j) alpha^k_ji for one sentence: row j, column i."""
    n = alpha.shape[0]
    logits = torch.zeros(n, n, dtype=torch.float64)
    for j in range(n):
        for i in range(n):
            both = torch.cat([v[i], v[j]])
            for k in range(alpha.shape[2]):
                logits[j, i] += (W[k] @ both) * alpha[i, j, k] + (U[k] @ both) * alpha[j, i, k]
    return logits


@settings(max_examples=15)
@given(n=st.integers(1, 6), heads=st.integers(1, 4), size=st.integers(1, 4), seed=st.integers(0, 999))
def test_logits_are_the_papers(n: int, heads: int, size: int, seed: int) -> None:
    alpha, v = drawn(2, n, n, heads, seed=seed), drawn(2, n, size, seed=seed + 1)
    w, u = drawn(heads, seed=seed + 2), drawn(heads, seed=seed + 3)
    W, U = drawn(heads, 2 * size, seed=seed + 4), drawn(heads, 2 * size, seed=seed + 5)
    for text in range(2):
        torch.testing.assert_close(attention_logits(alpha, w, u)[text], attention_by_loops(alpha[text], w, u))
        expected = attention_words_by_loops(alpha[text], v[text], W, U)
        torch.testing.assert_close(attention_words_logits(alpha, v, W, U)[text], expected)


@pytest.mark.real
def test_logits_are_the_papers_on_a_real_sentence(
    minilm_lens: headscope.Lens, ewt: Path, glove: Path, tmp_path: Path
) -> None:
    sentences = [document for document in read_treebank(ewt) if len(document.words or ()) == 11][:1]
    vectors = Vectors.load(glove, only=sentences[0].words)
    example = Examples(sentences, vectors, word_maps(minilm_lens, sentences, tmp_path)).collate([0])
    alpha, v = example.alpha.double(), example.vectors.double()
    assert alpha.shape == (1, 11, 11, 72)
    W, U = drawn(72, 200, seed=1), drawn(72, 200, seed=2)
    expected = attention_words_by_loops(alpha[0], v[0], W, U)
    torch.testing.assert_close(attention_words_logits(alpha, v, W, U)[0], expected)
    torch.testing.assert_close(attention_logits(alpha, W[:, 0], U[:, 0])[0], attention_by_loops(alpha[0], W[:, 0], U[:, 0]))


def distance_by_hand(distance: int) -> list[float]:
    """Of a candidate `distance` words after the dependent: behind first, then ahead."""
    apart = abs(distance)
    side = [float(apart == short) for short in range(1, SHORT + 1)] + [apart / 10, math.log(max(apart, 1))]
    nothing = [0.0] * len(side)
    return (side if distance < 0 else nothing) + (side if distance > 0 else nothing)


def test_distance_features_by_hand() -> None:
    expected = torch.tensor([distance_by_hand(distance) for distance in range(-11, 12)])
    torch.testing.assert_close(distance_features(12), expected)
    assert expected.shape[1] == FEATURES
    assert expected[11].sum() == 0


def test_distances_probe_is_one_hidden_layer_on_a_concatenation() -> None:
    probe = DistancesProbe(3, torch.Generator().manual_seed(0), hidden=4)
    v = drawn(1, 12, 3).float()
    layer = torch.cat([probe.candidate, probe.dependent, probe.distance])  # a row an input
    logits = probe(Sentences(torch.zeros(1, 12), torch.ones(1, 12), v))
    for j in range(12):
        for i in range(12):
            inputs = torch.cat([v[0, i], v[0, j], torch.tensor(distance_by_hand(i - j))])
            expected = (inputs @ layer + probe.bias).relu() @ probe.out
            torch.testing.assert_close(logits[0, j, i], expected)


def test_right_branching_by_hand() -> None:
    # "Dogs chase cats ." and "Run ." side by side
    heads = torch.tensor([[1, NO_HEAD, 1, 1], [NO_HEAD, 0, NO_HEAD, NO_HEAD]])
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    assert RightBranching().predict(Sentences(heads, mask)).tolist() == [[1, 2, 3, -1], [1, -1, -1, -1]]


def test_a_word_is_never_its_own_head_and_the_others_sum_to_one() -> None:
    mask = torch.tensor([[True, True, True], [True, True, False]])
    p = head_log_probabilities(torch.full((2, 3, 3), 5.0), mask).exp()
    torch.testing.assert_close(p[0], torch.tensor([[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]))
    torch.testing.assert_close(p[1, :2], torch.tensor([[0, 1.0, 0], [1.0, 0, 0]]))


def test_cross_entropy_by_hand_leaves_roots_out() -> None:
    logits = torch.tensor([[[9.0, 1.0, 2.0], [0.0, 9.0, 0.0], [3.0, 3.0, 9.0]]], requires_grad=True)
    sentences = Sentences(torch.tensor([[2, NO_HEAD, 0]]), torch.ones(1, 3, dtype=torch.bool))
    loss = cross_entropy(logits, sentences)
    expected = (math.log(1 + math.exp(-1)) + math.log(2)) / 2
    assert loss.item() == pytest.approx(expected, rel=1e-6)
    loss.backward()
    assert logits.grad is not None
    assert not logits.grad[0, 1].any()
    assert not logits.grad.diagonal(dim1=1, dim2=2).any()


@settings(max_examples=10)
@given(order=st.permutations(range(8)))
def test_neighbours_and_padding_change_nothing(order: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    chosen: list[Document] = documents(8, seed=5)
    maps = stored(tmp_path_factory.mktemp("maps") / "maps", noise(chosen, 3))
    examples = Examples(chosen, Vectors(["the", "cat"], drawn(2, 4)), maps)
    W, U = drawn(3, 8, seed=1).float(), drawn(3, 8, seed=2).float()
    together = examples.collate(order)
    logits = attention_words_logits(together.alpha, together.vectors, W, U)
    log_p = head_log_probabilities(logits, together.mask)
    for row, index in enumerate(order):
        alone = examples.collate([index])
        n = int(examples.lengths[index])
        expected = head_log_probabilities(attention_words_logits(alone.alpha, alone.vectors, W, U), alone.mask)[0]
        if n > 1:
            torch.testing.assert_close(log_p[row, :n, :n], expected, rtol=1e-5, atol=1e-5)
            assert log_p[row, :n, n:].exp().sum() == 0
        assert together.heads[row, :n].tolist() == list(chosen[index].parents or ())
        assert (together.heads[row, n:] == NO_HEAD).all()
