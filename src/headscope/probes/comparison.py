"""Table 3 of clark2019: how well a model's attention parses, beside what parses without it."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.lens.tokens.encoder import AS_WRITTEN, Encoding
from headscope.probes.attachment import attachment
from headscope.probes.attention import AttentionProbe, AttentionWordsProbe
from headscope.probes.base import Probe
from headscope.probes.baselines import DistancesProbe, RightBranching
from headscope.probes.batches import Examples
from headscope.probes.features import disk_needed, word_maps
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


PROBES = {
    "right_branching": Kind(lambda heads, size, generator: RightBranching()),
    "distances_words": Kind(lambda heads, size, generator: DistancesProbe(size, generator), vectors=True),
    "random_attention_words": Kind(lambda heads, size, generator: AttentionWordsProbe(heads, size), True, "random"),
    "attention": Kind(lambda heads, size, generator: AttentionProbe(heads), attention="trained"),
    "attention_words": Kind(lambda heads, size, generator: AttentionWordsProbe(heads, size), True, "trained"),
}


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
    encoding: Encoding = AS_WRITTEN,
    training: Training | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One row a probe: name, uas, uas_without_punctuation, low, high (95 %, by sentences), words, epochs.

    `train` and `test` are treebanks; without `test`, a fifth of `train` is set aside for it. `which` names probes
    (default: all; without vectors, those that need none). `max_sentences` is the number of training sentences at the
    most. `cache` is a folder that keeps the attention maps for the next time; without it they are in a temporary one.
    `encoding` says how sentences become tokens: as they are written, or `headscope.lens.BY_WORD`.
    """
    progress = progress or Silent()
    chosen = _chosen(which, vectors is not None)
    parts = _parts(train, test, max_sentences)
    known = _vectors(vectors, parts, progress) if any(PROBES[name].vectors for name in chosen) else None

    def examples(source: str | None, folder: Path) -> list[Examples]:
        """Both parts with the attention of the model, of its random twin, or none."""
        if source is None:
            return [Examples(part, known) for part in parts]
        with nullcontext(lens) if source == "trained" else lens.twin(seed, keep_embeddings=True) as seen:
            options: Any = {"measure": measure, "truncate": truncate, "encoding": encoding, "progress": progress}
            return [Examples(part, known, word_maps(seen, part, folder, **options)) for part in parts]

    rows: dict[str, dict[str, Any]] = {}
    with _folder(cache) as folder:
        sources = list(dict.fromkeys(PROBES[name].attention for name in chosen))
        if attentions := len(sources) - (None in sources):
            needed = attentions * disk_needed(lens, [*parts[0], *parts[1]], measure)
            progress.say(f"The attention maps take {needed / 1e9:.2f} GB of disk in all, in {folder}.")
        for source in sources:
            learning, evaluation = examples(source, Path(folder))
            for name in chosen:
                if PROBES[name].attention == source:
                    rows[name] = _row(name, learning, evaluation, split_held_out(parts[0]), seed, training, progress)
    table = pd.DataFrame([rows[name] for name in chosen])
    return table.astype({"words": "Int64", "epochs": "Int64"})


def _row(
    name: str,
    learning: Examples,
    evaluation: Examples,
    split: tuple[Indices, Indices],
    seed: int,
    training: Training | None,
    progress: Progress,
) -> dict[str, Any]:
    """Train where there is something to train, and score."""
    generator = torch.Generator().manual_seed(seed)  # its own: the numbers do not depend on the other probes
    heads = learning.maps.heads if learning.maps is not None else 0
    made = PROBES[name].make(heads, learning.vectors.size if learning.vectors is not None else 0, generator)
    epochs = None
    if list(made.parameters()):
        epochs = fit(made, learning, *split, generator, training, progress, name).epochs
    score = attachment(made, evaluation)
    low, high = score.interval()
    progress.say(f"{name}: UAS {score.uas:.1%}")
    shares = {"uas": score.uas, "uas_without_punctuation": score.uas_without_punctuation, "low": low, "high": high}
    return {"name": name, **shares, "words": int(score.words.sum()), "epochs": epochs}


def _chosen(which: Sequence[str] | None, has_vectors: bool) -> list[str]:
    if which is None:
        return [name for name, kind in PROBES.items() if has_vectors or not kind.vectors]
    names = [which] if isinstance(which, str) else list(dict.fromkeys(which))
    for name in names:
        if name not in PROBES:
            raise InputError(f"There is no probe {name!r}; choose some of {', '.join(PROBES)}.")
        if PROBES[name].vectors and not has_vectors:
            raise InputError(f"The probe {name} needs word vectors: give a GloVe file with vectors=.")
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


def _folder(cache: str | Path | None) -> AbstractContextManager[str]:
    return tempfile.TemporaryDirectory(prefix="headscope-probe-") if cache is None else nullcontext(str(cache))
