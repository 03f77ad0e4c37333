"""opus-mt-fr-en on the Hansards pairs: the error rates that an independent textbook computation found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.alignment import align, link
from headscope.alignment.gold import with_gold
from headscope.alignment.head_set import HeadSet, Reader, by_agreement
from headscope.alignment.link_files import read_links
from headscope.alignment.linking import encode_pair
from headscope.alignment.states import agreement_by_layer, most_agreeing, weigh_states
from headscope.alignment.tuning import tune
from headscope.statistics import HeadAgreement
from headscope.statistics.alignment.scores import alignment_counts, scores
from headscope.text import Corpus, Document
from headscope.text.parallel import parallel_documents
from tests.conftest import SHARED

pytestmark = [pytest.mark.real, pytest.mark.slow]

DATA = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data"))
LAYERS = {
    ("AWI", "norm"): [14.21, 11.38, 11.70, 30.25, 77.26, 81.09],
    ("AWI", "weight"): [83.99, 58.47, 14.62, 32.21, 90.08, 89.67],
    ("AWO", "norm"): [84.36, 82.45, 75.96, 61.19, 25.06, 35.64],
    ("AWO", "weight"): [98.48, 96.15, 86.88, 70.18, 28.81, 51.84],
}
AGREEING = {"0.5 AWI", "1.7 AWI", "2.3 AWI", "2.6 AWI", "3.2 AWI", "5.0 AWO"}
HALVES = {"second half": 4.69, "first half": 3.24}  # chosen on it, and judged on the other
HEADS = {"weight": ("1.7", 7.97), "norm": ("2.3", 8.47)}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    folder = DATA / "alignment" / "hansards"
    if not folder.is_dir():
        pytest.skip("no Hansards pairs in ../shared/data")
    return with_gold(parallel_documents(folder / "en-fr.txt", first="target"), folder / "en-fr.gold", base=1, first="target")


def test_heads_that_agree_on_hansards(opus: Path, corpus: Corpus, tmp_path: Path) -> None:
    """Without gold links, and stable: over halves, bootstrap samples, and random subsets of 20 pairs."""
    documents = list(corpus)
    states: list[dict[str, np.ndarray]] = []
    with headscope.open(opus) as lens:
        run = align(lens, without_gold(documents, tmp_path), out=tmp_path / "run")
        found = [links.sure for links in read_links(tmp_path / "run" / "links.txt", format="pharaoh")]
        whole = by_agreement(run["head_agreements"])
        assert whole.warning == ""
        assert {reader.label for reader in whole.readers} == AGREEING
        assert 100 * error_rate(found, documents) == pytest.approx(3.97, abs=0.1)
        for document in documents:
            one = HeadAgreement(measure="norm").start(lens.sites)
            lens.run(lens.encoder.collate([encode_pair(lens, document)]), one.update)
            states.append(one.state)
        rng = np.random.default_rng(0)
        samples = {"first half": range(100), "second half": range(100, 200)}
        samples |= {f"bootstrap {draw}": rng.choice(200, 200) for draw in range(20)}
        samples |= {f"twenty {draw}": rng.choice(200, 20, replace=False) for draw in range(40)}
        links: dict[frozenset[Reader], list[frozenset[tuple[int, int]]]] = {}
        for name, some in samples.items():
            sums = {key: sum(states[index][key] for index in some) for key in ("found", "shared")}
            chosen = by_agreement(one.labels().assign(**one.columns(sums)))
            readers = frozenset(chosen.readers)
            if readers not in links:
                links[readers] = link(lens, documents, chosen)
            others = sorted(set(range(200)) - set(map(int, some)))
            rate = error_rate([links[readers][index] for index in others], [documents[index] for index in others])
            assert 100 * rate < 5.5, name
            if name in HALVES:
                assert 100 * rate == pytest.approx(HALVES[name], abs=0.1)
    assert frozenset(whole.readers) in links
    assert len(links) <= 2


def test_ten_tuned_pairs_on_hansards(opus: Path, corpus: Corpus) -> None:
    """Weights from ten pairs, over draws of them, judged on the pairs that are left: better than the heads that agree."""
    documents = list(corpus)
    agreeing = HeadSet(tuple(Reader(int(name[0]), int(name[2]), name[4:]) for name in sorted(AGREEING)))
    rng = np.random.default_rng(0)
    rates = []
    with headscope.open(opus) as lens:
        untuned = link(lens, documents, agreeing)
        for _ in range(3):
            some = set(rng.choice(200, 10, replace=False).tolist())
            others = [index for index in range(200) if index not in some]
            tuned, table, _ = tune(lens, [documents[index] for index in some])
            left = [documents[index] for index in others]
            rate = 100 * error_rate(link(lens, left, tuned), left)
            assert rate < 4.5
            assert 100 * table.loc[table["chosen"], "aer"].item() < 9  # ten pairs say little
            rates.append((rate, 100 * error_rate([untuned[index] for index in others], left)))
    tuned_mean, untuned_mean = np.mean(rates, axis=0)
    assert tuned_mean < untuned_mean


def test_states_on_hansards(opus: Path, corpus: Corpus) -> None:
    """opus-mt's encoder on both sides: the layer whose readings agree most is the last, and the best."""
    documents = list(corpus)
    with headscope.open(opus) as lens:
        table = agreement_by_layer(lens, documents)
        layer = most_agreeing(table).layer
        found = [frozenset(one.links) for one in weigh_states(lens, documents, layer=layer)]
    assert layer == int(table["aer"].idxmin()) == 6
    assert 100 * error_rate(found, documents) == pytest.approx(8.75, abs=0.1)


def without_gold(documents: Sequence[Document], folder: Path) -> Corpus:
    path = folder / "pairs.txt"
    sides = ((" ".join(document.words or ()), " ".join(document.target_words or ())) for document in documents)
    path.write_text("".join(f"{source} ||| {target}\n" for source, target in sides))
    return parallel_documents(path)


def error_rate(found: Sequence[frozenset[tuple[int, int]]], documents: Sequence[Document]) -> float:
    counts = [alignment_counts(links, document.alignment) for links, document in zip(found, documents, strict=True)]
    return float(scores(np.sum(counts, axis=0)).aer)


def test_error_rates_on_hansards(opus: Path, corpus: Corpus, tmp_path: Path) -> None:
    with headscope.open(opus) as lens:
        run = align(lens, corpus, out=tmp_path / "run", by="norm")
    layers = run["aer_layers"].set_index(["setting", "measure"])
    for place, expected in LAYERS.items():
        assert (100 * layers.loc[place].sort_values("layer")["aer"]).tolist() == pytest.approx(expected, abs=0.1)
    heads = run["aer_heads"].query("setting == 'AWI'")
    for measure, (label, expected_best) in HEADS.items():
        best = heads[heads["measure"] == measure].nsmallest(1, "aer").iloc[0]
        assert f"{best['layer']}.{best['head']}" == label
        assert 100 * best["aer"] == pytest.approx(expected_best, abs=0.1)
    assert 100 * run["align_scores"]["aer"][0] == pytest.approx(11.70, abs=0.1)  # the layer with the highest average norm
