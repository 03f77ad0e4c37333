"""Training: learns what is there to be learnt, the same every time, and never looks at the wrong sentences."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.probes import AttentionProbe, AttentionWordsProbe, DistancesProbe, Examples, Training, Vectors, fit
from headscope.probes.attachment import attachment
from headscope.probes.base import Probe
from headscope.probes.training import mean_loss
from headscope.text import Document
from tests.probes.planted import documents, noise, plant, stored

LEARNED, HELD_OUT = np.arange(50), np.arange(50, 60)


def fitted(probe: Probe, examples: Examples, seed: int = 0, **settings: float) -> tuple[Probe, list[float]]:
    found = fit(probe, examples, LEARNED, HELD_OUT, torch.Generator().manual_seed(seed), Training(**settings))
    return found.probe, found.losses


@pytest.mark.parametrize("backwards", [False, True])
def test_a_planted_head_is_found(tmp_path: Path, sentences: list[Document], backwards: bool) -> None:
    maps = noise(sentences, 4)
    plant(sentences, maps, head=2, backwards=backwards)
    examples = Examples(sentences, maps=stored(tmp_path / "maps", maps))
    probe, losses = fitted(AttentionProbe(4), examples, learning_rate=1.0)
    assert losses[-1] < 0.1 < losses[0]
    assert attachment(probe, examples).uas == 1
    trusted = probe.w if backwards else probe.u
    assert trusted.argmax() == 2


def test_words_choose_the_head_to_trust(tmp_path: Path, sentences: list[Document]) -> None:
    """Head 0 is right for `dog` alone and wrong for all other words, head 1 the other way round."""
    maps, wrong = noise(sentences, 2), noise(sentences, 2, seed=1)
    for document, alpha, bad in zip(sentences, maps, wrong, strict=True):
        gold = alpha.copy()
        plant([document], [gold], 0)
        is_dog = np.array([word == "dog" for word in document.words or ()])
        alpha[:, :, 0] = np.where(is_dog[:, None], gold[:, :, 0], 3 * bad[:, :, 0])
        alpha[:, :, 1] = np.where(is_dog[:, None], 3 * bad[:, :, 1], gold[:, :, 0])
    stored_maps = stored(tmp_path / "maps", maps)
    vectors = Vectors(["dog", "cat"], torch.tensor([[1.0, 0.0], [0.0, 1.0]]), unknown=torch.tensor([0.0, 1.0]))
    examples = Examples(sentences, vectors, stored_maps)
    with_words, _ = fitted(AttentionWordsProbe(2, 2), examples, learning_rate=0.1)
    without, _ = fitted(AttentionProbe(2), examples)
    assert attachment(with_words, examples).uas == 1
    assert attachment(without, examples).uas < 0.95


def test_the_distances_probe_learns_word_order(sentences: list[Document], vectors: Vectors) -> None:
    """Every word hangs on the one before it, the first on nothing."""
    chains = [Document(words=d.words, parents=list(range(-1, len(d.words or ()) - 1))) for d in sentences]
    examples = Examples(chains, vectors)
    probe, losses = fitted(DistancesProbe(5, torch.Generator().manual_seed(0)), examples, learning_rate=0.03)
    assert losses[-1] < losses[0]
    assert attachment(probe, examples).uas == 1


def all_probes(seed: int) -> list[Probe]:
    return [AttentionProbe(3), AttentionWordsProbe(3, 5), DistancesProbe(5, torch.Generator().manual_seed(seed))]


def test_the_same_seed_gives_the_same_numbers_bit_for_bit(
    tmp_path: Path, sentences: list[Document], vectors: Vectors
) -> None:
    examples = Examples(sentences, vectors, stored(tmp_path / "maps", noise(sentences, 3)))
    for one, other, different in zip(all_probes(4), all_probes(4), all_probes(5), strict=True):
        first, losses = fitted(one, examples, seed=4, batch_words=40)
        torch.randn(100)  # the global random state has no part in it
        again, same_losses = fitted(other, examples, seed=4, batch_words=40)
        assert losses == same_losses
        for name, parameter in first.state_dict().items():
            assert torch.equal(parameter, again.state_dict()[name])
        assert fitted(different, examples, seed=5, batch_words=40)[1] != losses


def test_permuting_the_heads_permutes_the_weights_only(tmp_path: Path, sentences: list[Document], vectors: Vectors) -> None:
    maps, order = noise(sentences, 5), [3, 0, 4, 1, 2]
    plant(sentences, maps, head=1)
    straight = Examples(sentences, vectors, stored(tmp_path / "straight", maps))
    permuted = Examples(sentences, vectors, stored(tmp_path / "permuted", [alpha[:, :, order] for alpha in maps]))
    for make in (lambda: AttentionProbe(5), lambda: AttentionWordsProbe(5, 5)):
        one, losses = fitted(make(), straight, most_epochs=4)
        other, other_losses = fitted(make(), permuted, most_epochs=4)
        assert losses == pytest.approx(other_losses, rel=1e-4)
        for name, parameter in one.state_dict().items():
            torch.testing.assert_close(parameter[order], other.state_dict()[name], rtol=1e-3, atol=1e-4)
        np.testing.assert_array_equal(attachment(one, straight).right, attachment(other, permuted).right)


def test_the_best_epoch_is_taken(tmp_path: Path, sentences: list[Document], vectors: Vectors) -> None:
    """On noise there is nothing to learn: the held-out loss soon rises, and what is kept is what it was lowest for."""
    examples = Examples(sentences, vectors, stored(tmp_path / "maps", noise(sentences, 3)))
    probe = AttentionWordsProbe(3, 5)
    found = fit(probe, examples, LEARNED, HELD_OUT, torch.Generator().manual_seed(0), Training(learning_rate=1.0))
    assert len(found.losses) - 1 > found.epochs
    assert found.losses[found.epochs] < min(found.losses) + Training().least
    assert mean_loss(found.probe, examples, HELD_OUT) == pytest.approx(found.losses[found.epochs], rel=1e-5)


def test_held_out_sentences_are_not_learnt_from(tmp_path: Path, sentences: list[Document]) -> None:
    """Other gold heads in the held-out part lead to the same parameters after one epoch."""
    maps = stored(tmp_path / "maps", noise(sentences, 3))
    stars = [Document(words=d.words, parents=[-1, *[0] * (len(d.words or ()) - 1)]) for d in sentences[50:]]
    seen: list[torch.Tensor] = []
    for known in (sentences, [*sentences[:50], *stars]):
        one_epoch = Training(most_epochs=1, least=-100.0)
        found = fit(AttentionProbe(3), Examples(known, maps=maps), LEARNED, HELD_OUT, torch.Generator(), one_epoch)
        assert found.epochs == 1
        seen.append(found.probe.get_parameter("w"))
    assert seen[0].any()
    assert torch.equal(*seen)


@settings(max_examples=25)
@given(words=st.integers(1, 60), seed=st.one_of(st.none(), st.integers(0, 9)), count=st.integers(1, 40))
def test_batches_hold_every_sentence_once_and_similar_lengths(words: int, seed: int | None, count: int) -> None:
    examples = Examples(documents(40))
    chosen = np.arange(40)[:count]
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    batches = examples.batches(chosen, words, generator)
    assert sorted(index for batch in batches for index in batch) == list(chosen)
    assert all(len(batch) == 1 or len(batch) * examples.lengths[batch].max() <= words for batch in batches)
    ranges = sorted((examples.lengths[batch].min(), examples.lengths[batch].max()) for batch in batches)
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
