"""The probes' features: equal to a reading in words with its special tokens cut, and made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.errors import InputError
from headscope.probes import disk_needed, read_treebank, word_maps
from headscope.probes.maps import ARRAY
from headscope.text import Document
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

KINDS = {"bert": "wordpiece", "gpt2": "bpe", "llama": "bpe", "marian": "bpe"}


class Told:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.done = 0

    def part(self, name: str) -> Told:
        return self

    def begin(self, documents: int, done: int) -> None:
        self.done = done

    def advance(self, documents: int) -> None:
        self.done += documents

    def say(self, line: str) -> None:
        self.lines.append(line)


def from_reading(lens: headscope.Lens, document: Document, measure: str) -> np.ndarray:
    """(from, to, head) out of the reading's full map: all heads of all layers, rows and columns of words only."""
    reading = lens.read(document)
    source = reading.batch.sources[0]
    word_of = [source.word_of[pieces[0]] for pieces in source.groups()[1]]  # None for special tokens
    layers = reading.to_words().scores(measure).numpy()
    length = len(document.words or ())
    alpha = np.zeros((length, length, layers.shape[0] * layers.shape[1]))
    for layer in range(layers.shape[0]):
        for head in range(layers.shape[1]):
            for row, i in enumerate(word_of):
                for column, j in enumerate(word_of):
                    if i is not None and j is not None:
                        alpha[i, j, layer * layers.shape[1] + head] = layers[layer, head, row, column]
    return alpha


@pytest.mark.parametrize("measure", ["weight", "norm", "joint_norm"])
@pytest.mark.parametrize("family", KINDS)
def test_maps_are_the_readings(family: str, measure: str, tmp_path: Path, sentences: list[Document]) -> None:
    with headscope.open(tiny(family), tiny_tokenizer(KINDS[family])) as lens:
        maps = word_maps(lens, sentences[:12], tmp_path, measure=measure)
        assert len(maps) == 12
        for index, document in enumerate(sentences[:12]):
            expected = from_reading(lens, document, measure)
            np.testing.assert_allclose(maps[index], expected, rtol=2e-3, atol=1e-6)
            if family in ("gpt2", "llama"):
                assert not np.triu(maps[index].max(-1), 1).any(), "a causal model attends to nothing ahead"


@pytest.mark.real
def test_maps_are_the_readings_on_fifty_real_sentences(minilm_lens: headscope.Lens, ewt: Path, tmp_path: Path) -> None:
    sentences = read_treebank(ewt, max_sentences=50)
    maps = word_maps(minilm_lens, sentences, tmp_path)
    for index, document in enumerate(sentences):
        expected = from_reading(minilm_lens, document, "weight")
        np.testing.assert_allclose(maps[index], expected, rtol=2e-3, atol=2e-5)
        assert (maps[index].astype(float).sum(1) < 1).any(), "what went to [CLS] and [SEP] is not given to others"


def test_they_are_made_once_for_a_model_and_its_sentences(
    tmp_path: Path, sentences: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        run = lens.run
        monkeypatch.setattr(lens, "run", lambda *given, **options: (runs.append(1), run(*given, **options)))
        first, told = word_maps(lens, sentences, tmp_path), Told()
        made = len(runs)
        again = word_maps(lens, sentences, tmp_path, progress=told)
        assert len(runs) == made > 0
        assert "as they are in" in told.lines[0]
        assert all((first[index] == again[index]).all() for index in range(len(sentences)))
        # Gold heads are no part of it, words are.
        bare = [Document(words=document.words, parents=[-1] * len(document.words or ())) for document in sentences]
        word_maps(lens, bare, tmp_path)
        assert len(runs) == made
        word_maps(lens, sentences[1:], tmp_path)
        word_maps(lens, sentences, tmp_path, measure="norm")
        assert len(runs) > made
    assert len(list(tmp_path.iterdir())) == 3


def test_damaged_maps_are_said_and_made_again(tmp_path: Path, sentences: list[Document]) -> None:
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        first = word_maps(lens, sentences, tmp_path)
        expected = [first[index] for index in range(len(sentences))]
        file = first.folder / ARRAY
        file.write_bytes(file.read_bytes()[:-1] + b"\x7f")
        told = Told()
        again = word_maps(lens, sentences, tmp_path, progress=told)
    assert "damaged" in told.lines[0]
    assert told.done == len(sentences)
    assert all((again[index] == expected[index]).all() for index in range(len(sentences)))


def test_models_and_twins_have_maps_of_their_own(tmp_path: Path, sentences: list[Document]) -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    found = []
    for options in ({}, {"random_init": 0}, {"random_init": 1}, {"random_init": 0, "keep_embeddings": True}):
        with headscope.open(tiny("bert"), tokenizer, **options) as lens:
            found.append(word_maps(lens, sentences[:5], tmp_path)[4])
    assert len(list(tmp_path.iterdir())) == 4
    assert not any(np.allclose(one, other) for one in found for other in found if one is not other)


def test_the_disk_is_said_beforehand(tmp_path: Path, sentences: list[Document]) -> None:
    told = Told()
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        needed = disk_needed(lens, sentences)
        maps = word_maps(lens, sentences, tmp_path, progress=told)
    assert needed == 2 * 3 * 4 * sum(len(document.words or ()) ** 2 for document in sentences)
    assert needed == np.load(maps.folder / ARRAY).nbytes
    assert "by 12 heads take 0.00 GB" in told.lines[0]


def test_a_sentence_that_is_too_long_is_named_or_cut_off(tmp_path: Path) -> None:
    long = Document(words=["dog"] * 80, parents=[-1] + [0] * 79, name="the long one")
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        with pytest.raises(InputError, match=r"the long one: .* reads at most 64"):
            word_maps(lens, [long], tmp_path)
        assert not list(tmp_path.iterdir())
        alpha = word_maps(lens, [long], tmp_path, truncate=True)[0]
    assert alpha[:62, :62].any(-1).all()
    assert not alpha[62:].any()
    assert not alpha[:, 62:].any()


def test_a_measure_of_single_tokens_is_refused(tmp_path: Path, sentences: list[Document]) -> None:
    with (
        headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens,
        pytest.raises(InputError, match="value_norm has one number a token"),
    ):
        word_maps(lens, sentences, tmp_path, measure="value_norm")
