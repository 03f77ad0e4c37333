"""Word alignments of Hansards by headscope and by other aligners, against the same gold links."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from benchmarks.alignment_speed import HANSARDS
from benchmarks.alignment_speed import MODEL as OPUS
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from torch import Tensor

import headscope
from comparisons.models import MINILM
from comparisons.table import OURS, Line, Table, named
from headscope.alignment import align, eflomal_links, read_links, with_gold
from headscope.alignment.states import agreement_by_layer, most_agreeing
from headscope.alignment.tables import link_scores
from headscope.lens import Lens
from headscope.text import Corpus, Document
from headscope.text.links import Links, Pair
from headscope.text.parallel import parallel_documents

GOLD = HANSARDS.with_name("en-fr.gold")
STATES = f"{OURS} --by states"
Aligned = list[frozenset[Pair]]
ABOUT = """{pairs} French-English pairs of Hansards with gold links, which no system sees; AER with the interval of
resampled pairs. headscope reads opus-mt-fr-en, a translator that has seen millions of other pairs; its time is that of
a whole run, in which it also chooses its heads. SimAlign's own matching (argmax from both sides, itermax) is given the
states of that translator's encoder in the layer that `--by states` chooses, a word's mean, since its usual models are
on a hub; it is told the layer, for which `--by states` reads all pairs once more. eflomal and fast_align (the package
systran-align, with fast_align's options -d -o -v) know no model: they learn from these {pairs} pairs and from nothing
else, which is far less than they are made for, and they take seconds without a model at all. Their links of both
directions are joined by grow-diag-final-and (eflomal), or as systran-align joins them."""


def alignment(settings: Settings) -> Table:
    """Links of 200 Hansards pairs with opus-mt-fr-en, beside eflomal, fast_align and SimAlign's method."""
    pairs = with_gold(parallel_documents(HANSARDS, first="target"), GOLD, base=1, first="target")
    if settings.quick:
        pairs = pairs.take(10)
    documents = list(pairs)
    with headscope.open(OPUS) as lens, tempfile.TemporaryDirectory() as folder:
        aligners = _aligners(lens, pairs, documents, Path(folder))
        found: dict[str, Aligned] = {}

        def keep(name: str, aligner: Callable[[], Aligned]) -> None:
            found[name] = aligner()

        timed = alternate({name: partial(keep, name, one) for name, one in aligners.items()}, max(1, settings.repeats // 2))
    seconds = {row.what: row for row in as_ratios(timed, OURS, {})}
    systems = {name: [Links.of(links) for links in found[name]] for name in aligners}
    scores = link_scores(systems, [document.alignment for document in documents]).set_index("system")
    lines = []
    for name, row in scores.iterrows():
        between = f"{100 * row['aer_low']:.1f} to {100 * row['aer_high']:.1f}"
        rates: dict[str, Row | str] = {"AER": Row("AER", [100 * row["aer"]], "%"), "between": between}
        rates |= {part: f"{100 * row[part]:.1f}" for part in ("precision", "recall")}
        lines.append(Line(_titled(str(name)), rates | {"time": seconds[str(name)]}))
    return Table("Word alignments", ABOUT.format(pairs=len(documents)), lines)


def _aligners(lens: Lens, pairs: Corpus, documents: Sequence[Document], folder: Path) -> dict[str, Callable[[], Aligned]]:
    """Those that are installed, by name."""
    runs = iter(range(sys.maxsize))

    def ours(by: str) -> Aligned:
        out = folder / str(next(runs))  # a run that is there already would be taken as it is
        align(lens, pairs, out=out, by=by)
        return [links.sure for links in read_links(out / "links.txt", format="pharaoh")]

    aligners: dict[str, Callable[[], Aligned]] = {OURS: partial(ours, "agreement"), STATES: partial(ours, "states")}
    if (simalign := _simalign(lens, documents)) is not None:
        aligners["simalign, argmax"] = partial(simalign, "inter")
        aligners["simalign, itermax"] = partial(simalign, "itermax")
    if (Path(sys.executable).parent / "eflomal-align").exists():
        aligners["eflomal"] = partial(eflomal_links, documents, symmetrisation="grow-diag-final-and")
    if (fast_align := _fast_align(documents, folder)) is not None:
        aligners["fast_align"] = fast_align
    return aligners


class EncoderStates:
    """What SimAlign asks its model for: the pieces of words, and their vectors in one layer of an encoder."""

    def __init__(self, lens: Lens, layer: int) -> None:
        self.lens, self.layer, self.tokenizer = lens, layer, lens.tokenizer

    def get_embed_list(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentence, piece, d), without the end token; SimAlign cuts off what is padding itself."""
        pieces = [[piece for word in words for piece in self.tokenizer.tokenize(word)] for words in sentences]
        ids = [[*self.tokenizer.convert_tokens_to_ids(some), self.tokenizer.eos_token_id] for some in pieces]
        padded = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(some) for some in ids], batch_first=True, padding_value=self.tokenizer.pad_token_id
        )
        mask = torch.arange(padded.shape[1]) < torch.tensor([[len(some)] for some in ids])
        with torch.no_grad(), self.lens.unwatched():
            encoder: Any = self.lens.model.get_encoder()
            states = encoder(input_ids=padded, attention_mask=mask.long(), output_hidden_states=True)
        return states.hidden_states[self.layer]


def _simalign(lens: Lens, documents: Sequence[Document]) -> Callable[[str], Aligned] | None:
    """SimAlign on the translator's encoder; None where it is not installed."""
    try:
        from simalign import SentenceAligner
    except ImportError:
        return None
    layer = most_agreeing(agreement_by_layer(lens, documents)).layer
    aligner: Any = SentenceAligner(model=str(MINILM.folder), token_type="word", matching_methods="ai", layer=1)
    aligner.embed_loader = EncoderStates(lens, layer)

    def links(method: str) -> Aligned:
        return [
            frozenset(aligner.get_word_aligns(list(one.words or ()), list(one.target_words or ()))[method])
            for one in documents
        ]

    return links


def _fast_align(documents: Sequence[Document], folder: Path) -> Callable[[], Aligned] | None:
    """fast_align as systran-align has it, trained on the documents; None where it is not installed."""
    try:
        import systran_align
    except ImportError:
        return None
    texts, forward, backward = (folder / name for name in ("pairs.txt", "forward", "backward"))

    def links() -> Aligned:
        sides = [(list(one.words or ()), list(one.target_words or ())) for one in documents]
        texts.write_text("".join(f"{' '.join(source)} ||| {' '.join(target)}\n" for source, target in sides), "utf-8")
        systran_align.generate_alignment_probabilities(
            str(texts), str(forward), str(backward), favor_diagonal=True, optimize_tension=True, variational_bayes=True
        )
        aligner = systran_align.Aligner(str(forward), str(backward))
        sources, targets = zip(*sides, strict=True)
        return [frozenset(map(tuple, one["alignments"])) for one in aligner.align_batch(list(sources), list(targets))]

    return links


def _titled(name: str) -> str:
    if name == "fast_align":
        return f"fast_align ({named('systran-align')})"
    tool = name.split(",")[0].split(" ")[0]
    return name.replace(tool, named(tool), 1)
