"""The probes' features: word-level attention maps of every head over a treebank (clark2019, sections 4.1 and 5).

Attention to a word is the sum over its pieces, from it the mean. Special tokens are cut and what is left is
not renormalised: the paper does not say that it is, and how much goes to [SEP] then still shows. A word that
has no token (cut off by `truncate`) has zeros.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.lens.tokens.encoder import AS_WRITTEN, Encoding
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.word_blocks import WordBlock, WordRows
from headscope.measures import MEASURES
from headscope.probes.maps import Map, WordMaps, bytes_needed, check_space, load_maps, written_whole
from headscope.probes.treebank import Indices
from headscope.progress import Progress, Silent
from headscope.statistics.base import Heads
from headscope.study.manifest import describe_model, versions
from headscope.text import Document

TEXTS = 32  # in a batch, at the most
SHOWN = 256  # sentences between two signs of progress
BATCH_BYTES = 2**25  # of a batch's maps in float16, unless one sentence has more


def probed_heads(lens: Lens, measure: str = "weight") -> Heads:
    """The heads whose maps a probe sees: all self attention that runs on a sentence alone."""
    if MEASURES[measure].per_key:
        raise InputError(f"A probe needs a measure of pairs of tokens; {measure} has one number a token.")
    sites = [site for site in lens.sites if site.kind == "self"]
    if lens.is_encoder_decoder:
        sites = [site for site in sites if site.stack == "encoder"]
    return Heads(sites, joint=MEASURES[measure].joint)


def disk_needed(lens: Lens, sentences: Sequence[Document], measure: str = "weight") -> int:
    """The bytes that the maps of these sentences will take: 2 x heads x the sum of n squared."""
    return bytes_needed([len(document.words or ()) for document in sentences], probed_heads(lens, measure).count)


def word_maps(
    lens: Lens,
    sentences: Sequence[Document],
    cache: str | Path,
    *,
    measure: str = "weight",
    truncate: bool = False,
    encoding: Encoding = AS_WRITTEN,
    progress: Progress | None = None,
) -> WordMaps:
    """The maps of all sentences: those in the folder `cache`, if they are of this model and these sentences, or new ones."""
    progress = progress or Silent()
    heads = probed_heads(lens, measure)
    made_of = _made_of(lens, sentences, measure, truncate) | encoding.describe()
    name = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:16]
    cache = Path(cache)
    folder = cache / f"maps-{name}"
    lengths = [len(document.words or ()) for document in sentences]
    found = load_maps(folder, made_of, lengths, heads.count)
    if found is not None:
        progress.say(f"Attention maps of {len(sentences):,} sentences: as they are in {folder}.")
        return found
    if folder.exists():
        progress.say(f"The attention maps in {folder} are damaged and are made again.")
    needed = bytes_needed(lengths, heads.count)
    progress.say(
        f"Attention maps of {len(sentences):,} sentences by {heads.count} heads take {needed / 1e9:.2f} GB in {cache}."
    )
    check_space(cache, needed)
    progress.part("reading attention").begin(len(sentences), 0)
    read = 0
    with written_whole(folder, made_of, lengths, heads.count) as writer:
        for batch in _batches(lengths, heads.count):
            encoded = [_encoded(lens, sentences[index], truncate, encoding) for index in batch]
            maps = _read(lens, encoded, heads, measure)
            for index, alpha in zip(batch, maps, strict=True):
                writer.write(index, alpha)
            read += len(batch)
            if read >= SHOWN:
                progress.advance(read)
                read = 0
    progress.advance(read)
    return WordMaps(folder, lengths, heads.count)


def _made_of(lens: Lens, sentences: Sequence[Document], measure: str, truncate: bool) -> dict[str, Any]:
    """What the maps depend on; the heads and relations of the sentences are not among it."""
    digest = hashlib.sha256()
    for document in sentences:
        spaces = None if document.spaces is None else list(document.spaces)
        written = [list(document.words or ()), spaces, list(document.multiwords or ())]
        digest.update(json.dumps(written).encode() + b"\n")
    settings = {"measure": measure, "truncate": truncate}
    return {"model": describe_model(lens), "sentences": digest.hexdigest(), **settings, "versions": versions()}


def _batches(lengths: Sequence[int], heads: int) -> Iterator[list[int]]:
    """Sentences of similar length together."""
    batch: list[int] = []
    for sentence in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batch and (len(batch) == TEXTS or bytes_needed([lengths[sentence]] * (len(batch) + 1), heads) > BATCH_BYTES):
            yield batch
            batch = []
        batch.append(sentence)
    if batch:
        yield batch


def _read(lens: Lens, encoded: Sequence[Encoded], heads: Heads, measure: str) -> list[Map]:
    """For each document its map: (from, to, head)."""
    lengths = [len(item.document.words or ()) for item in encoded]
    maps = [np.zeros((heads.count, length, length), np.float16) for length in lengths]

    def receive(block: WordBlock) -> None:
        scores = block.scores(measure).cpu().numpy()  # batch head row key
        for text, alpha in enumerate(maps):
            rows, row_words = _words_among(block.attending.words[text][block.rows.start : block.rows.stop])
            keys, key_words = _words_among(block.attended.words[text])
            alpha[heads.where(block.site), row_words[:, None], key_words] = scores[text][:, rows[:, None], keys]

    with np.errstate(over="ignore"):
        lens.run(lens.encoder.collate(encoded), WordRows([measure], receive))
    if not all(np.isfinite(alpha).all() for alpha in maps):
        raise InputError(f"{lens.name}: some scores by {measure} are too large for half precision (over 65,504).")
    return [alpha.transpose(1, 2, 0) for alpha in maps]


def _encoded(lens: Lens, document: Document, truncate: bool, encoding: Encoding) -> Encoded:
    try:
        return lens.encoder.encode(document, truncate=truncate, encoding=encoding)
    except InputError as error:
        raise InputError(f"{document.name or 'A sentence'}: {error}") from error


def _words_among(words: Sequence[int | None]) -> tuple[Indices, Indices]:
    """Of the tokens and words of a side, those that are words: where they are, and which."""
    kept = [(place, word) for place, word in enumerate(words) if word is not None]
    return np.array([place for place, _ in kept], dtype=np.int64), np.array([word for _, word in kept], dtype=np.int64)
