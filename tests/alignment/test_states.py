"""Links by an encoder's states, against loops over the plain model's hidden states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from headscope.alignment import align
from headscope.alignment.link_files import read_links
from headscope.alignment.run import read_choices
from headscope.alignment.states import agreement_by_layer, most_agreeing, mutual_best, weigh_states
from headscope.errors import InputError
from headscope.lens.tokens.word_encoding import encode_words
from headscope.statistics.alignment.scores import alignment_counts, scores
from headscope.text import Corpus
from tests.statistics.alignment.test_picking import PAIRS
from tests.statistics.tester import lens_for


def textbook(lens, words: list[str], layer: int) -> np.ndarray:
    """(word, d): one sentence by itself, by transformers' own output_hidden_states."""
    sequence = encode_words(lens.tokenizer, words)
    model = lens.model.get_encoder() if lens.is_encoder_decoder else lens.model
    with torch.no_grad(), lens.unwatched():
        states = model(torch.tensor([sequence.ids]), output_hidden_states=True).hidden_states[layer][0].numpy()
    return np.array([
        np.mean([states[token] for token, of in enumerate(sequence.word_of) if of == word], axis=0)
        for word in range(len(words))
    ])  # fmt: skip


def by_loops(lens, document, layer: int) -> dict[tuple[int, int], float]:
    sources, targets = (textbook(lens, words, layer) for words in (document.words, document.target_words))
    cosine = {
        (s, t): float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
        for s, one in enumerate(sources)
        for t, other in enumerate(targets)
    }
    found = {}
    for (source, target), value in cosine.items():
        of_target = max(cosine[s, target] for s in range(len(sources)))
        of_source = max(cosine[source, t] for t in range(len(targets)))
        if value == of_target == of_source:
            found[source, target] = max(value, 0.0)
    return found


@pytest.mark.parametrize("family", ["marian", "bert"])
def test_against_loops(family: str) -> None:
    lens = lens_for(family)
    for layer in (0, 2):
        expected = [by_loops(lens, document, layer) for document in PAIRS]
        for batch_size in (1, 2):
            found = [one.links for one in weigh_states(lens, PAIRS, layer=layer, batch_size=batch_size)]
            assert [set(one) for one in found] == [set(one) for one in expected]
            for one, true in zip(found, expected, strict=True):
                assert one == pytest.approx(true, abs=1e-5)


def test_agreement_of_layers() -> None:
    lens = lens_for("marian")
    table = agreement_by_layer(lens, PAIRS, batch_size=2)
    words = sum(len(document.words) + len(document.target_words) for document in PAIRS)
    for layer, two_ways, aer in table[["layer", "two_ways", "aer"]].itertuples(index=False):
        links = [by_loops(lens, document, layer) for document in PAIRS]
        assert two_ways == pytest.approx(2 * sum(map(len, links)) / words)
        counts = [alignment_counts(one.keys(), document.alignment) for one, document in zip(links, PAIRS, strict=True)]
        assert aer == pytest.approx(float(scores(np.sum(counts, axis=0)).aer))
    assert most_agreeing(pd.DataFrame({"layer": [0, 1, 2], "two_ways": [0.4, 0.7, 0.6]})).layer == 1


def test_cosines_below_zero_can_be_best() -> None:
    assert mutual_best(torch.tensor([[-0.9, -0.2], [-0.5, -0.8]])).tolist() == [[False, True], [True, False]]


def test_a_run(tmp_path: Path) -> None:
    lens, corpus = lens_for("bert"), Corpus.from_documents(PAIRS)
    run = align(lens, corpus, out=tmp_path / "run", by="states", scores=True)
    layer = int(run["state_layers"]["two_ways"].idxmax())
    found = [links.sure for links in read_links(run.folder / "links.txt", format="pharaoh")]
    assert found == [frozenset(one.links) for one in weigh_states(lens, PAIRS, layer=layer)]
    assert f"after layer {layer} by cosine" in read_choices(run)["chosen"][0]
    assert run["align_scores"]["aer"][0] == pytest.approx(run["state_layers"]["aer"][layer])
    named = align(lens, corpus, out=tmp_path / "named", by="states", layer=1)
    expected = [frozenset(one.links) for one in weigh_states(lens, PAIRS, layer=1)]
    assert [links.sure for links in read_links(named.folder / "links.txt", format="pharaoh")] == expected


def test_errors(tmp_path: Path) -> None:
    corpus = Corpus.from_documents(PAIRS)
    with pytest.raises(InputError, match="no encoder whose states"):
        align(lens_for("llama"), corpus, out=tmp_path / "one", by="states")
    with pytest.raises(InputError, match=r"after layer 9; choose one of 0 \(embeddings\) to 2"):
        align(lens_for("marian"), corpus, out=tmp_path / "two", by="states", layer=9)
    with pytest.raises(InputError, match="leave out --head, --reverse"):
        align(lens_for("marian"), corpus, out=tmp_path / "three", by="states", layer=0, head=1, reverse=lens_for("marian"))
    assert not list(tmp_path.iterdir())
