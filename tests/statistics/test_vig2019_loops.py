"""Equations 3 to 7 of vig2019 as plain loops over full maps, a pair at a time: on real sentences, and on a causal model."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.statistics import (
    Dependencies,
    Distance,
    Entropy,
    Exemplars,
    MeanMap,
    Tags,
    Variability,
)
from headscope.statistics.base import Statistic
from headscope.statistics.exemplars import document_number
from headscope.text import Corpus, Document
from tests import places
from tests.statistics.examples import documents_for
from tests.statistics.tester import lens_for


def loops(lens: headscope.Lens, documents: list[Document], first: int) -> dict[str, np.ndarray | dict]:
    """Equations 3 to 7 as they stand, a pair at a time, for all heads at once: (layer, head) numbers."""
    to, origin, forms = defaultdict(float), defaultdict(float), defaultdict(float)
    total, spanned, entropy, rows = 0.0, 0.0, 0.0, 0.0
    maps = []
    for document in documents:
        reading = lens.read(document)
        alpha = reading.scores("weight").double().numpy()
        words = lens.encoder.encode(document).source.word_of
        n = alpha.shape[-1]
        causal = lens.sites[0].stack == "decoder"
        for i in range(n):
            whole, kept = alpha[:, :, i].sum(-1), alpha[:, :, i, first:].sum(-1)
            counted = np.ones_like(whole) if first == 0 else (whole - kept <= 0.9 * whole).astype(float)
            share = alpha[:, :, i, first:] / np.maximum(kept, 1e-30)[..., None]
            entropy = entropy + counted * -(share * np.log(np.maximum(share, 1e-300))).sum(-1)
            rows = rows + counted
            for j in range(first, i + 1 if causal else n):
                a, one, other = alpha[:, :, i, j], words[i], words[j]
                total = total + a
                spanned = spanned + a * abs(i - j)
                if other is not None:
                    to[document.tags[other]] = to[document.tags[other]] + a
                if one is not None:
                    origin[document.tags[one]] = origin[document.tags[one]] + a
                if one is not None and other is not None and one != other:
                    if document.parents[other] == one:
                        forms["attending_is_parent"] = forms["attending_is_parent"] + a
                    if document.parents[one] == other:
                        forms["attended_is_parent"] = forms["attended_is_parent"] + a
        maps.append(alpha)
    return {
        "to": {tag: amount / total for tag, amount in to.items()},
        "from": {tag: amount / total for tag, amount in origin.items()},
        "forms": {form: amount / total for form, amount in forms.items()},
        "distance": spanned / total,
        "entropy": entropy / rows,
        "variability": variability(maps, first),
    }


def variability(maps: list[np.ndarray], first: int, positions: int = 10) -> np.ndarray:
    corners = [alpha[:, :, :positions, first:positions] for alpha in maps]
    pairs: dict[tuple[int, int], list[np.ndarray]] = defaultdict(list)
    for corner in corners:
        for i in range(corner.shape[2]):
            for j in range(corner.shape[3]):
                pairs[i, j].append(corner[:, :, i, j])
    deviation = sum(np.abs(np.stack(found) - np.mean(found, 0)).sum(0) for found in pairs.values())
    return deviation / (2 * sum(np.stack(found).sum(0) for found in pairs.values()))


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1])
def test_against_loops_on_real_sentences(minilm: Path, first: int) -> None:
    path = places.DATA / "treebank" / "en_ewt-ud-dev.conllu"
    if not path.is_file():
        pytest.skip("../shared/data/treebank is not here")
    documents = [document for document in islice(Corpus.from_files(path), 200) if 3 < len(document.words) < 25][:50]
    with headscope.open(minilm) as lens:
        check_against_loops(lens, documents, bool(first), documents_at_least=50)


@pytest.mark.parametrize("without_first", [False, True])
def test_against_loops_on_a_causal_model(without_first: bool) -> None:
    check_against_loops(lens_for("llama"), documents_for("llama"), without_first, documents_at_least=5)


def check_against_loops(
    lens: headscope.Lens, documents: list[Document], without_first: bool, documents_at_least: int
) -> None:
    assert len(documents) >= documents_at_least
    slow = loops(lens, documents, int(without_first))
    settings = [cls(without_first=without_first) for cls in (Tags, Dependencies, Distance, Entropy, MeanMap, Exemplars)]
    made = [one.start(lens.sites) for one in settings]
    batches = [lens.encoder.batch(documents[start : start + 7]) for start in range(0, len(documents), 7)]
    for batch in batches:
        lens.run(batch, lambda block: [one.update(block) for one in made], rows=5)
    tags, dependencies, distance, entropy, mean, exemplars = made
    second = Variability.of(mean).start(lens.sites)
    for batch in batches:
        lens.run(batch, second.update)
    shape = slow["distance"].shape

    def column(one: Statistic, name: str) -> np.ndarray:
        return one.table()[name].to_numpy().reshape(shape)

    close = {"rtol": 2e-4, "atol": 1e-6}
    np.testing.assert_allclose(column(distance, "distance"), slow["distance"], **close)
    np.testing.assert_allclose(column(entropy, "entropy"), slow["entropy"], **close)
    np.testing.assert_allclose(column(second, "variability"), slow["variability"], **close)
    for form, expected in slow["forms"].items():
        np.testing.assert_allclose(column(dependencies, form), expected, **close)
    table = tags.table()
    assert set(table["tag"]) == set(slow["to"])
    for tag, of_tag in table.groupby("tag"):
        np.testing.assert_allclose(of_tag["to"].to_numpy().reshape(shape), slow["to"][tag], **close)
        np.testing.assert_allclose(of_tag["from"].to_numpy().reshape(shape), slow["from"][tag], **close)
    check_exemplars(lens, documents, exemplars)


def check_exemplars(lens: headscope.Lens, documents: list[Document], exemplars: Statistic) -> None:
    """The best text of each head, found by looking at every pair."""
    first = exemplars.first_key  # type: ignore[attr-defined]
    best = np.full([len(lens.sites), lens.sites[0].heads], -1.0)
    for document in documents:
        alpha = lens.read(document).scores("weight").numpy()
        special = np.array(lens.encoder.encode(document).source.special)
        allowed = ~special[:, None] & ~special[None] & ~np.eye(len(special), dtype=bool)
        allowed[:, :first] = False
        best = np.maximum(best, np.where(allowed, alpha, -1).max((-1, -2)))
    top = exemplars.table().query("rank == 1")
    np.testing.assert_allclose(top["score"].to_numpy().reshape(best.shape), best, rtol=1e-4, atol=1e-6)
    assert set(top["document"]) <= {document_number(document) for document in documents}
