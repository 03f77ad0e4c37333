"""Table 3 of clark2019: how well a model's attention parses, beside what parses without it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.probes.attachment import attachment
from headscope.probes.attention import AttentionProbe
from headscope.probes.attention_words import AttentionWordsProbe
from headscope.probes.base import Probe
from headscope.probes.batches import Examples
from headscope.probes.distances import DistancesProbe
from headscope.probes.features import disk_needed, word_maps
from headscope.probes.right_branching import RightBranching
from headscope.probes.training import Training, fit
from headscope.probes.treebank import Indices, check_enough, read_treebank, split_evaluation, split_held_out
from headscope.probes.vectors import Vectors
from headscope.progress import Progress, Silent
from headscope.text import Document


@dataclass(frozen=True)
class Kind:
    """One row of the table: how its probe is made from (heads, size of vectors, generator), and whose attention it sees."""

    make: Callable[[int, int, torch.Generator], Probe]
    vectors: bool = False
    attention: str | None = None  # "trained", or "random": the twin that has only its embeddings trained


class Kinds(dict[str, Kind]):
    """A dictionary whose missing keys are explained."""

    def __missing__(self, name: str) -> Kind:
        raise InputError(f"There is no probe {name!r}; choose some of {', '.join(self)}.")


PROBES = Kinds(
    right_branching=Kind(lambda heads, size, generator: RightBranching()),
    distances_words=Kind(lambda heads, size, generator: DistancesProbe(size, generator), vectors=True),
    random_attention_words=Kind(lambda heads, size, generator: AttentionWordsProbe(heads, size), True, "random"),
    attention=Kind(lambda heads, size, generator: AttentionProbe(heads), attention="trained"),
    attention_words=Kind(lambda heads, size, generator: AttentionWordsProbe(heads, size), True, "trained"),
)


def probe(
    lens: Lens,
    train: Any,
    test: Any = None,
    *,
    vectors: Vectors | str | Path | None = None,
    which: Sequence[str] | None = None,
    seed: int = 0,
    cache: str | Path | None = None,
    max_sentences: int | None = None,
    measure: str = "weight",
    truncate: bool = False,
    training: Training | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One row a probe: name, uas, uas_without_punctuation, low, high (95 %, by sentences), words, epochs.

    `train` and `test` are treebanks; without `test`, a fifth of `train` is set aside for it. `which` names probes
    (default: all; without vectors, those that need none). `max_sentences` is the number of training sentences at the
    most. `cache` is a folder that keeps the attention maps for the next time; without it they are in a temporary one.
    """
    progress = progress or Silent()
    chosen = _chosen(which, vectors is not None)
    learning, evaluation = _parts(train, test, max_sentences)
    known = _vectors(vectors, [learning, evaluation], progress) if any(PROBES[name].vectors for name in chosen) else None
    rows: dict[str, dict[str, Any]] = {}
    with _folder(cache) as folder:
        sources = list(dict.fromkeys(PROBES[name].attention for name in chosen))
        attentions = sum(source is not None for source in sources)
        if attentions:
            needed = attentions * disk_needed(lens, [*learning, *evaluation], measure)
            progress.say(f"The attention maps take {needed / 1e9:.2f} GB of disk in all, in {folder}.")
        for source in sources:
            parts = _examples(lens, source, [learning, evaluation], known, folder, measure, truncate, seed, progress)
            for name in chosen:
                if PROBES[name].attention == source:
                    rows[name] = _row(name, parts, split_held_out(learning), seed, training, progress)
    table = pd.DataFrame([rows[name] for name in chosen])
    return table.astype({"words": "Int64", "epochs": "Int64"})


def _row(
    name: str,
    parts: tuple[Examples, Examples],
    split: tuple[Indices, Indices],
    seed: int,
    training: Training | None,
    progress: Progress,
) -> dict[str, Any]:
    """Train on the first part where there is something to train, and score on the second."""
    learning, evaluation = parts
    generator = torch.Generator().manual_seed(seed)  # its own: the numbers do not depend on the other probes
    heads = learning.maps.heads if learning.maps is not None else 0
    size = learning.vectors.size if learning.vectors is not None else 0
    made = PROBES[name].make(heads, size, generator)
    epochs = None
    if list(made.parameters()):
        epochs = fit(made, learning, split[0], split[1], generator, training, progress, name).epochs
    score = attachment(made, evaluation)
    low, high = score.interval()
    progress.say(f"{name}: UAS {score.uas:.1%}")
    return {
        "name": name,
        "uas": score.uas,
        "uas_without_punctuation": score.uas_without_punctuation,
        "low": low,
        "high": high,
        "words": int(score.words.sum()),
        "epochs": epochs,
    }


def _chosen(which: Sequence[str] | None, has_vectors: bool) -> list[str]:
    if which is None:
        return [name for name, kind in PROBES.items() if has_vectors or not kind.vectors]
    names = [which] if isinstance(which, str) else list(dict.fromkeys(which))
    without = [name for name in names if PROBES[name].vectors and not has_vectors]
    if without:
        raise InputError(f"The probe {without[0]} needs word vectors: give a GloVe file with vectors=.")
    if not names:
        raise InputError(f"No probe is asked for: name some of {', '.join(PROBES)}.")
    return names


def _parts(train: Any, test: Any, max_sentences: int | None) -> tuple[list[Document], list[Document]]:
    """Sentences to learn from and to evaluate on. `max_sentences` is about the first only."""
    if test is None:
        learning, evaluation = split_evaluation(read_treebank(train))
        learning = read_treebank(learning, max_sentences) if learning else learning
    else:
        learning, evaluation = read_treebank(train, max_sentences), read_treebank(test)
    check_enough(learning, evaluation)
    return learning, evaluation


def _vectors(given: Vectors | str | Path | None, parts: Sequence[Sequence[Document]], progress: Progress) -> Vectors:
    assert given is not None
    words = [word for part in parts for document in part for word in document.words or ()]
    vectors = given if isinstance(given, Vectors) else Vectors.load(given, only=set(words))
    progress.say(f"{vectors.coverage(words):.1%} of the words have a vector; the others get the mean of all.")
    return vectors


def _examples(
    lens: Lens,
    source: str | None,
    parts: Sequence[Sequence[Document]],
    vectors: Vectors | None,
    folder: Path,
    measure: str,
    truncate: bool,
    seed: int,
    progress: Progress,
) -> tuple[Examples, Examples]:
    """Both parts with the attention of the model, of its random twin, or none."""
    if source is None:
        learning, evaluation = (Examples(part, vectors) for part in parts)
        return learning, evaluation
    with _of(lens, source, seed) as seen:
        options: dict[str, Any] = {"measure": measure, "truncate": truncate, "progress": progress}
        learning, evaluation = (Examples(part, vectors, word_maps(seen, part, folder, **options)) for part in parts)
    return learning, evaluation


@contextmanager
def _of(lens: Lens, source: str, seed: int) -> Iterator[Lens]:
    if source == "trained":
        yield lens
        return
    with lens.twin(seed, keep_embeddings=True) as twin:
        yield twin


@contextmanager
def _folder(cache: str | Path | None) -> Iterator[Path]:
    if cache is not None:
        yield Path(cache)
        return
    with tempfile.TemporaryDirectory(prefix="headscope-probe-") as folder:
        yield Path(folder)
