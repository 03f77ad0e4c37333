"""Links by an encoder's states: words whose vectors are nearest to each other from both sides (Sabet et al., 2020).

One encoder reads both languages, each sentence by itself; a word's vector is the mean of its pieces' states in a layer.
Words are linked where each is the other's best by cosine. There is no 'no link', and no threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headscope.alignment.linking import Weighed, encode_pair
from headscope.errors import InputError
from headscope.later import Tensor, nn, pd, torch
from headscope.lens.lens import Lens
from headscope.statistics.alignment.scores import alignment_counts, scores
from headscope.statistics.alignment.two_ways import best_both_ways
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.text import Document
from headscope.text.links import Links


@dataclass(frozen=True)
class StateLayer:
    """The layer whose states are compared; 0 is the embeddings, 1 what the first layer makes of them."""

    layer: int
    why: str = "named"

    @property
    def label(self) -> str:
        """
        >>> StateLayer(4).label
        "the encoder's states after layer 4 by cosine, both ways"
        """
        return f"the encoder's states after layer {self.layer} by cosine, both ways"


def check_encoder(lens: Lens, layer: int | None = None) -> None:
    """One encoder that can read both sides: of an encoder-decoder, or a model that is one."""
    if is_decoder_only(lens.sites):
        raise InputError(f"{lens.name} has no encoder whose states could be compared: leave --by states out.")
    most = state_count(lens) - 1
    if layer is not None and layer > most:
        raise InputError(f"There are no states after layer {layer}; choose one of 0 (embeddings) to {most}.")


def state_count(lens: Lens) -> int:
    return 1 + len({site.layer for site in lens.sites if site.stack == "encoder"})


def weigh_states(lens: Lens, documents: Sequence[Document], *, layer: int, batch_size: int = 16) -> list[Weighed]:
    """The links of each document, with their cosines as scores (0 where they are below it)."""
    found: dict[int, Weighed] = {}
    for indices, cosines in _cosines(lens, documents, batch_size, [layer]):
        for index, of_pair in zip(indices, cosines, strict=True):
            places = mutual_best(of_pair[0]).nonzero().tolist()
            links = {(source, target): max(float(of_pair[0, target, source]), 0.0) for target, source in places}
            found[index] = Weighed(links)
    return [found[index] for index in range(len(documents))]


def agreement_by_layer(lens: Lens, documents: Sequence[Document], *, batch_size: int = 16) -> pd.DataFrame:
    """How many links both readings find in each layer's states, layer and two_ways; and with gold links, its aer."""
    layers = range(state_count(lens))
    mutual, all_words, counts = np.zeros(len(layers)), 0, np.zeros((len(layers), 4))
    for indices, cosines in _cosines(lens, documents, batch_size, layers):
        for index, of_pair in zip(indices, cosines, strict=True):
            found, gold = mutual_best(of_pair), documents[index].alignment or Links()
            mutual += found.sum((1, 2)).cpu().numpy()
            all_words += sum(of_pair.shape[1:])
            for layer, of_layer in enumerate(found):
                links = {(source, target) for target, source in of_layer.nonzero().tolist()}
                counts[layer] += alignment_counts(links, gold)
    table = pd.DataFrame({"layer": layers, "two_ways": 2 * mutual / max(all_words, 1)})
    return table.assign(aer=scores(counts).aer) if documents[0].alignment is not None else table


def most_agreeing(table: pd.DataFrame) -> StateLayer:
    """The layer whose two readings agree most."""
    best = table.loc[table["two_ways"].idxmax()]
    return StateLayer(int(best["layer"]), f"its two readings agree most ({best['two_ways']:.2f} of 1)")


def mutual_best(cosines: Tensor) -> Tensor:
    """Words that are each other's best: (..., target word, source word) -> the same, as truth values."""
    targets, sources = (torch.ones(size, dtype=torch.bool, device=cosines.device) for size in cosines.shape[-2:])
    by_row, by_column = best_both_ways(cosines + 2, targets, sources)  # above 0, as scores are
    return by_row & by_column


def word_states(lens: Lens, sentences: Sequence[Sequence[str]], layers: Sequence[int]) -> list[Tensor]:
    """The mean state of each word's pieces, of length 1: a (layer, word, d) for every sentence; 0 for what has no piece."""
    encoded = [encode_pair(lens, Document(words=list(words))) for words in sentences]
    batch = lens.encoder.collate(encoded)
    with torch.no_grad(), lens.unwatched():
        states = lens.forward(batch.inputs, output_hidden_states=True).hidden_states
    chosen = torch.stack([states[layer] for layer in layers], 1).float()  # batch layer token d
    found = []
    for of_text, sequence, words in zip(chosen, batch.sources, sentences, strict=True):
        shares = torch.zeros(len(words), of_text.shape[1], device=of_text.device)
        for token, word in enumerate(sequence.word_of):
            if word is not None:
                shares[word, token] = 1 / sequence.word_of.count(word)
        found.append(nn.functional.normalize(shares @ of_text, dim=-1))
    return found


def _cosines(
    lens: Lens, documents: Sequence[Document], batch_size: int, layers: Sequence[int]
) -> Iterator[tuple[list[int], list[Tensor]]]:
    """Some documents at a time, of similar length: which, and the (layer, target word, source word) of each."""
    sides = [(list(document.words or ()), list(document.target_words or ())) for document in documents]
    order = sorted(range(len(documents)), key=lambda index: len(sides[index][0]))
    for start in range(0, len(order), batch_size):
        some = order[start : start + batch_size]
        sources, targets = (word_states(lens, [sides[index][side] for index in some], layers) for side in (0, 1))
        yield some, [target @ source.transpose(1, 2) for source, target in zip(sources, targets, strict=True)]
