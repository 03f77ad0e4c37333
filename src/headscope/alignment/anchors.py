"""Words that both sides write alike (numbers, names, marks, cognates) tell which heads of a decoder align, without gold.

The heads of a decoder that agree most with each other look at the wrong words together; those that also find the words that
both languages write alike do not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

from headscope.alignment.head_set import MOST, HeadSet, Reader
from headscope.alignment.linking import encode_pair, in_batches
from headscope.alignment.word_maps import Place, read_word_maps
from headscope.errors import InputError
from headscope.later import Tensor, pd
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import BY_WORD, Encoding
from headscope.statistics.alignment.alignment_errors import aligning_sites
from headscope.statistics.alignment.sides import SETTINGS, sides_of
from headscope.statistics.alignment.two_ways import best_both_ways
from headscope.statistics.kit.resampling import Array
from headscope.text import Document
from headscope.text.links import Pair

ALIKE = 0.7  # of two words' letters, by difflib's ratio; 95 of 100 such links are right on Hansards
LETTERS = 4  # of words that need not be the same
ENOUGH = 20  # anchors: fewer do not tell heads apart
SOME = 100  # pairs that they are looked for in


def anchors(document: Document) -> frozenset[Pair]:
    """Links of words that are each other's most alike, and of no others: the same but for case and accents, or nearly.

    >>> sorted(anchors(Document(words=["le", "gouvernement", "a", "2"], target_words=["2", "of", "the", "government"])))
    [(1, 3), (3, 0)]
    """
    sources, targets = ([_bare(word) for word in words or ()] for words in (document.words, document.target_words))
    ratios = np.array([[_alike(source, target) for source in sources] for target in targets])
    best = (ratios >= ALIKE) & (ratios == ratios.max(1, keepdims=True)) & (ratios == ratios.max(0, keepdims=True))
    alone = best & (best.sum(1, keepdims=True) == 1) & (best.sum(0, keepdims=True) == 1)
    return frozenset((int(source), int(target)) for target, source in np.argwhere(alone))


def anchored(
    lens: Lens, documents: Sequence[Document], *, measure: str = "weight", encoding: Encoding = BY_WORD, batch_size: int = 16
) -> pd.DataFrame:
    """The share of anchors that both readings of a head find: layer, head, setting, anchored."""
    known = [(document, anchors(document)) for document in documents]
    some = [(document, links) for document, links in known if links]
    count = sum(len(links) for _, links in some)
    if count < ENOUGH:
        raise InputError(
            f"In a prompt heads are chosen by words that both sides write alike, and these texts have {count} of them, "
            f"fewer than {ENOUGH}: give --layer, --tune with gold links of a few pairs, or --by aer with --gold."
        )
    sites = aligning_sites(lens.sites)
    wanted = {(site.layer, setting): range(site.heads) for setting in SETTINGS for site in sites}
    of_document = {id(document): links for document, links in some}

    def find(batch: Batch) -> list[dict[Place, Array]]:
        return _hits(lens, batch, measure, wanted, [of_document[id(document)] for document in batch.documents])

    found = in_batches(lens, [encode_pair(lens, document, encoding) for document, _ in some], find, batch_size)
    rows = [
        {
            "layer": layer,
            "head": head,
            "setting": setting,
            "anchored": sum(one[layer, setting][head] for one in found) / count,
        }
        for layer, setting in wanted
        for head in wanted[layer, setting]
    ]
    return pd.DataFrame(rows)


def _hits(
    lens: Lens, batch: Batch, measure: str, wanted: dict[Place, range], links: Sequence[frozenset[Pair]]
) -> list[dict[Place, Array]]:
    """How many of its anchors each head finds, of each text of a batch."""
    sides, hits = batch.cached(sides_of), [dict[Place, Array]() for _ in links]

    def receive(place: Place, merged: Tensor) -> None:
        by_row, by_column = best_both_ways(merged, sides.spoken[:, None], sides.there[:, None])
        both = (by_row & by_column).cpu().numpy()  # text head target source
        for text, own in enumerate(links):
            sources, targets = np.array(sorted(own)).T
            hits[text][place] = both[text][:, targets, sources].sum(1)

    read_word_maps(lens, batch, measure, wanted, receive)
    return hits


def by_anchors(table: pd.DataFrame, *, measure: str = "weight", setting: str | None = None, most: int = MOST) -> HeadSet:
    """The heads with the highest product of agreement and of the anchors that they find, at most `most`.

    table: layer, head, setting, score, anchored
    """
    asked = table if setting is None else table[table["setting"] == setting]
    ranked = asked.assign(both=asked["score"] * asked["anchored"]).sort_values("both", ascending=False, kind="stable")
    chosen = ranked[ranked["both"] > 0].drop_duplicates(["layer", "head"]).head(most)
    if chosen.empty:
        raise InputError("No head finds words that both sides write alike: give --layer, or --by aer with --gold.")
    readers = tuple(Reader(int(row["layer"]), int(row["head"]), str(row["setting"])) for row in chosen.to_dict("records"))
    why = "their links agree with those of other heads and with words that both sides write alike"
    why += f" ({100 * chosen['anchored'].max():.0f} % of these found by the best of them)"
    return HeadSet(readers, measure, why, balanced=True)


def _bare(word: str) -> str:
    """Without case and accents."""
    return "".join(letter for letter in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(letter))


def _alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    return SequenceMatcher(None, other, one, autojunk=False).ratio() if min(len(one), len(other)) >= LETTERS else 0.0
