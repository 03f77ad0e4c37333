"""Words that both sides write alike, and the heads that find them: by hand, against loops over full maps, in a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from headscope.alignment import align, link
from headscope.alignment.anchors import anchored, anchors, by_anchors
from headscope.alignment.head_set import HeadSet, Reader
from headscope.alignment.link_files import read_links
from headscope.alignment.linking import encode_pair
from headscope.errors import InputError
from headscope.lens.tokens.prompts import Prompt
from headscope.statistics.alignment.sides import SETTINGS
from headscope.text import Corpus, Document
from headscope.text.links import Links
from tests.statistics.alignment.test_head_agreement import by_words
from tests.statistics.alignment.test_picking import PAIRS, full_map
from tests.statistics.tester import lens_for

LINES = [
    ("the cats sat on the mat .", "two dogs sat ."),
    ("a dog , two", "the dog , end"),
    ("one unbelievable cat", "cat unbelievable"),
]
MANY = [Document(words=source.split(), target_words=target.split()) for source, target in LINES * 4]


def pair(source: str, target: str) -> Document:
    return Document(words=source.split(), target_words=target.split())


def test_by_hand() -> None:
    assert anchors(pair("Le gouvernement a 2 chats", "the government has 2 cats")) == {(1, 1), (3, 3), (4, 4)}
    assert anchors(pair("il est , non , ici", "it is , no")) == set()  # two commas for one: nobody can tell which
    assert anchors(pair("ÉTÉ 1975 .", "été . 1975")) == {(0, 0), (1, 2), (2, 1)}
    assert anchors(pair("oui", "no")) == set()
    assert anchors(pair("les parties", "party parties")) == {(1, 1)}


@pytest.mark.parametrize("measure", ["weight", "norm"])
def test_shares_against_loops(measure: str) -> None:
    lens = lens_for("marian")
    table = anchored(lens, MANY, measure=measure, batch_size=5).set_index(["layer", "head", "setting"])["anchored"]
    assert len(table) == 2 * 4 * 2
    count = sum(len(anchors(document)) for document in MANY)
    for layer in range(2):
        for head in range(4):
            for setting in SETTINGS:
                hits = 0
                for document in MANY:
                    encoded = encode_pair(lens, document)
                    scores = by_words(encoded, full_map(lens, encoded, measure, layer)[head], setting)
                    hits += sum(
                        scores[target].argmax() == source and scores[:, source].argmax() == target
                        for source, target in anchors(document)
                    )
                assert table[layer, head, setting] == pytest.approx(hits / count)


def test_heads_are_ranked_by_both() -> None:
    rows = [
        (0, 0, "AWI", 0.6, 0.1),  # agrees with many that are wrong
        (0, 1, "AWI", 0.4, 0.5),
        (0, 1, "AWO", 0.3, 0.5),  # the same head, read beside
        (1, 0, "AWO", 0.2, 0.6),
        (1, 1, "AWI", 0.5, 0.0),
    ]
    table = pd.DataFrame(rows, columns=["layer", "head", "setting", "score", "anchored"])
    chosen = by_anchors(table)
    assert chosen.readers == (Reader(0, 1, "AWI"), Reader(1, 0, "AWO"), Reader(0, 0, "AWI"))
    assert chosen.balanced
    assert by_anchors(table, most=1).readers == (Reader(0, 1, "AWI"),)
    assert by_anchors(table, setting="AWO").readers == (Reader(0, 1, "AWO"), Reader(1, 0, "AWO"))
    with pytest.raises(InputError, match="No head finds words"):
        by_anchors(table.assign(anchored=0.0))


def test_balanced_links_against_loops() -> None:
    """Rows made to sum to 1, then columns, then rows again; a word that all look at does not win."""
    lens = lens_for("marian")
    heads = HeadSet((Reader(0, 1, "AWI"), Reader(1, 3, "AWO")), "weight", balanced=True)
    expected = []
    for document in PAIRS:
        encoded, total = encode_pair(lens, document), 0
        for reader in heads.readers:
            scores = by_words(encoded, full_map(lens, encoded, "weight", reader.layer)[reader.head], reader.setting)
            for axis in (1, 0, 1):
                scores = scores / scores.sum(axis, keepdims=True)
            total = total + scores
        words = total[:, : len(document.words)]
        links = set()
        for target, source in np.ndindex(*words.shape):
            here = words[target, source]
            best = here == total[target].max() and here == words[:, source].max()
            if best or np.sqrt(here / total[target].sum() * here / words[:, source].sum()) > 0.5:
                links.add((source, target))
        expected.append(links)
    assert link(lens, PAIRS, heads, batch_size=2) == expected
    assert link(lens, PAIRS, heads, batch_size=1) == expected


def test_a_run_by_prompt(tmp_path: Path) -> None:
    lens, template = lens_for("llama"), "the cat {source} , {target}"
    run = align(lens, Corpus.from_documents(MANY), out=tmp_path / "run", prompt=template)
    chosen = by_anchors(run["head_agreements"], measure="norm")
    found = [links.sure for links in read_links(run.folder / "links.txt", format="pharaoh")]
    assert found == link(lens, MANY, chosen, prompt=Prompt(template))
    known = anchored(lens, MANY, measure="norm", encoding=Prompt(template))
    assert run["head_agreements"]["anchored"].tolist() == pytest.approx(
        run["head_agreements"].merge(known, on=["layer", "head", "setting"])["anchored_y"].tolist()
    )
    few = Corpus.from_documents([pair("the cat", "a dog ,")] * 3)
    with pytest.raises(InputError, match="write alike, and these texts have 0 of them, fewer than 20: give --layer"):
        align(lens, few, out=tmp_path / "few", prompt=template)
    tuned = [Document(words=one.words, target_words=one.target_words, alignment=Links.of([(0, 0)])) for one in MANY[:3]]
    some = align(
        lens, Corpus.from_documents(MANY), out=tmp_path / "tuned", prompt=template, tune=Corpus.from_documents(tuned)
    )
    assert (some.folder / "weights.json").is_file()
