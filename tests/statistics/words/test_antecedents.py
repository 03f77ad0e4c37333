"""Antecedents: by hand, and against a loop over full word maps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import headscope
from headscope.errors import InputError
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.word_blocks import WordRows
from headscope.statistics.base import Statistic
from headscope.statistics.words.antecedents import COLUMNS, Antecedents, finds_antecedent
from headscope.text import Corpus, Document, Mention
from headscope.text.coreference.head_words import head_word
from headscope.text.coreference.windows import windows
from headscope.text.cut import half_of
from tests import places
from tests.statistics.tester import SITE, counted, lens_for
from tests.text.samples import LITBANK, LITBANK_TEXT
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

DATA = places.DATA
KINDS = {"pronoun": "PRON", "proper": "PROP", "nominal": "NOM"}


def mention(start: int, stop: int, cluster: str, kind: str = "PRON") -> Mention:
    return Mention(start, stop, cluster, kind)  # type: ignore[arg-type]


# By hand

ANN = Document(
    words=["Ann", "saw", "Bob", "and", "she", "waved"],
    mentions=[mention(0, 1, "Ann", "PROP"), mention(2, 3, "Bob", "PROP"), mention(4, 5, "Ann")],
)


def by_hand(document: Document, rows: dict[int, list[float]], statistic: Statistic | None = None) -> pd.Series:
    """[CLS] and the words, each one token; `rows` are the weights of some words on [CLS] and all words."""
    words = document.words or ()
    length = len(words) + 1
    weights = torch.zeros(1, 1, length, length)
    for word, row in rows.items():
        weights[0, 0, word + 1] = torch.tensor(row)
    labels = ["[CLS]", *words]
    of_token = [None, *range(len(words))]
    sequence = TokenSequence(list(range(length)), labels, list(words), of_token, [True] + [False] * len(words), [0] * length)
    batch = Batch({"input_ids": torch.arange(length)[None]}, [sequence], [], [document])
    sides = KeySide(SITE, torch.ones(1, 1, length, 1), None, None, None)
    fresh = (statistic or Antecedents()).start([SITE])
    WordRows([fresh.measure], fresh.update)(AttentionBlock(SITE, range(length), weights, None, sides, batch))
    return fresh.table().iloc[0]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ([0.6, 0.2, 0.0, 0.1, 0.0, 0.1, 0.0], 1),  # special tokens are cut
        ([0.0, 0.2, 0.0, 0.1, 0.0, 0.7, 0.0], 1),  # the word itself is no candidate
        ([0.0, 0.3, 0.4, 0.1, 0.0, 0.1, 0.1], 0),  # a verb gets most
        ([0.1, 0.1, 0.0, 0.2, 0.0, 0.6, 0.0], 0),  # Bob does
        ([0.4, 0.0, 0.0, 0.0, 0.0, 0.6, 0.0], 0),  # nothing to any candidate
    ],
)
def test_the_most_attended_other_word(row: list[float], found: int) -> None:
    table = by_hand(ANN, {4: row})
    assert (table["all"], table["pronoun"], table["cases_all"], table["cases_pronoun"]) == (found, found, 1, 1)
    assert table["cases_proper"] == table["cases_nominal"] == 0
    assert np.isnan(table["proper"])
    half = half_of(ANN)
    assert table[f"cases_pronoun_half{half}"] == 1
    assert table[f"all_half{half}"] == found
    assert table[f"cases_all_half{1 - half}"] == 0


def test_only_mentions_as_candidates() -> None:
    row = [0.0, 0.3, 0.4, 0.1, 0.0, 0.1, 0.1]
    assert by_hand(ANN, {4: row}, Antecedents(candidates="mentions"))["all"] == 1
    later = replace(ANN, mentions=[*ANN.mentions, mention(5, 6, "x")])
    row = [0.0, 0.3, 0.0, 0.1, 0.0, 0.1, 0.5]
    assert by_hand(later, {4: row}, Antecedents(candidates="mentions"))["all"] == 1, "a later mention is no candidate"
    assert by_hand(later, {4: row})["all"] == 0


def test_nothing_is_judged_on_the_context() -> None:
    row = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert by_hand(replace(ANN, context=4), {4: row})["cases_all"] == 1
    assert by_hand(replace(ANN, context=5), {4: row})["cases_all"] == 0
    longer = [*ANN.mentions[:2], mention(4, 6, "Ann", "NOM")]
    assert by_hand(replace(ANN, mentions=longer, context=5), {})["cases_all"] == 1, "where its last word is"


def test_any_antecedent_will_do_and_the_own_head_word_is_none() -> None:
    words = ["the", "king", ",", "he", "the", "king", "himself"]
    king = mention(4, 6, "k", "NOM")
    whole = mention(4, 7, "k", "NOM")  # its head is that of `the king` in it, which is no antecedent
    document = Document(words=words, mentions=[mention(0, 2, "k", "NOM"), mention(3, 4, "k"), king, whole])
    # Of three cases the first looks at the first king; the other two share a row, which looks at `he`.
    table = by_hand(document, {3: [0, 0.1, 0.9, 0, 0, 0, 0, 0], 5: [0, 0, 0, 0, 1, 0, 0, 0]})
    assert (table["cases_all"], table["cases_nominal"], table["all"]) == (3, 2, 1)
    alone = Document(words=words, mentions=[king, whole])
    assert by_hand(alone, {})["cases_all"] == 0


def test_the_formula_on_its_own() -> None:
    scores = torch.tensor([[[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], [[0.0, 0.0, 1.0], [0.0, 0.1, 0.9]]])  # case head key
    candidates = torch.tensor([[False, True, True], [True, True, False]])
    antecedents = torch.tensor([[False, True, False], [True, True, False]])
    assert finds_antecedent(scores, candidates, antecedents).tolist() == [[True, False], [False, True]]


def test_settings_and_names() -> None:
    assert Antecedents().table_name == "antecedents"
    assert Antecedents(measure="norm", candidates="mentions").table_name == "antecedents_norm_mentions"
    with pytest.raises(InputError, match="candidates='words' or 'mentions', not 'all'"):
        Antecedents(candidates="all")
    with pytest.raises(InputError, match="counts in words"):
        Antecedents(level="token")


# Against a loop


def textbook(
    lens: headscope.Lens, documents: Sequence[Document], candidates: str, stack: str | None = None
) -> Iterator[tuple[int, int, str, int, bool, bool]]:
    """Layer, head, kind, half, and whether it is right: least and most, which differ where two scores tie in float32."""
    for document in documents:
        reading = lens.read(document).to_words()
        sequence = reading.batch.sources[0]
        of_key = [sequence.word_of[pieces[0]] for pieces in sequence.groups()[1]]
        key_of = {word: of_key.index(word) for word in range(len(document.words or ())) if word in of_key}
        maps = reading.scores(stack=stack).double()
        mentions = sorted(document.mentions or ())
        heads = [head_word(document, one) for one in mentions]
        for place, one in enumerate(mentions):
            row = heads[place]
            right = {heads[i] for i in range(place) if mentions[i].cluster == one.cluster and heads[i] != row}
            if one.stop - 1 < document.context or not right:
                continue
            allowed = set(key_of) if candidates == "words" else {heads[i] for i in range(place)}
            for layer, head in np.ndindex(maps.shape[0], maps.shape[1]):
                given_to = maps[layer, head, key_of[row]].tolist()
                scores = {word: given_to[key_of[word]] for word in allowed if word != row}
                best = max(scores.values())
                tied = {word for word, score in scores.items() if score > 0 and best - score <= 1e-6 * best}
                yield layer, head, str(one.kind), half_of(document), bool(tied) and tied <= right, bool(tied & right)


def assert_equals_the_loop(table: pd.DataFrame, loop: list[tuple[int, int, str, int, bool, bool]]) -> None:
    frame = pd.DataFrame(loop, columns=["layer", "head", "mention", "half", "least", "most"])
    for column in COLUMNS:
        for suffix, half in (("", None), ("_half0", 0), ("_half1", 1)):
            chosen = frame[(frame["mention"] == KINDS[column]) if column != "all" else slice(None)]
            chosen = chosen if half is None else chosen[chosen["half"] == half]
            sums = chosen.groupby(["layer", "head"])[["least", "most"]].agg(["sum", "count"])
            for _, row in table.iterrows():
                if sums.empty:
                    assert row[f"cases_{column}{suffix}"] == 0
                    continue
                least, cases, most, _ = sums.loc[(row["layer"], row["head"])]
                assert row[f"cases_{column}{suffix}"] == cases
                assert least <= round(row[f"{column}{suffix}"] * cases) <= most


@pytest.mark.real
@pytest.mark.slow
def test_the_statistic_equals_a_loop_over_full_word_maps(minilm: Path) -> None:
    """Windows of two novels, one of each half, with short sentences and more than 50 of them to be judged."""
    folder = DATA / "coreference" / "litbank" / "tsv"
    if not folder.is_dir():
        pytest.skip(f"LitBank is not in {DATA}: name the data folder with HEADSCOPE_DATA")
    novels = list(Corpus.of(folder))
    chosen = [max((one for one in novels if half_of(one) == half), key=lambda one: len(one.sentences)) for half in (0, 1)]
    with headscope.open(minilm) as lens:
        parts = []
        for novel in chosen:
            parts += islice(windows(novel, lambda part: len(lens.encoder.encode(part).source), 128), 7)
        judged = sum(1 for part in parts for start, _ in part.sentences if start >= part.context)
        assert judged > 50
        both = [Antecedents(), Antecedents(candidates="mentions")]
        run = headscope.study(lens, parts, both, batch_size=5, shard_size=9)
        for statistic in both:
            table = run[statistic.table_name]
            assert table["cases_all"].iloc[0] > 60
            assert (table["all_low"] <= table["all"]).all()
            assert_equals_the_loop(table, list(textbook(lens, parts, statistic.candidates)))


# Tiny models

NAMES = ["cat", "dog", "mat", "end"]


def annotated(text: str) -> Document:
    """Each animal is a cluster, each `the` or `a` a mention of the one before it; some words of context."""
    words = text.split()
    mentions = [mention(place, place + 1, word[:3], "NOM") for place, word in enumerate(words) if word[:3] in NAMES]
    mentions += [mention(place, place + 1, "cat") for place, word in enumerate(words) if word == "a"]
    return Document(words=words, mentions=mentions, context=min(2, len(words) - 1))


TEXTS = [
    "the unbelievable cat sat on the mat , a cat sat . the cat",
    "two dogs one dog a dog and a cat",
    "the end the end",
    "one cat unbelievable cat a",
    "unbelievable , unbelievable .",
    "a a cat a dog cat",
]
DOCUMENTS = [annotated(text) for text in TEXTS]


@pytest.mark.parametrize(("family", "stack"), [("bert", None), ("llama", "decoder"), ("marian", "encoder")])
@pytest.mark.parametrize("candidates", ["words", "mentions"])
def test_tiny_models_equal_the_loop(family: str, stack: str | None, candidates: str) -> None:
    documents = DOCUMENTS if family != "marian" else [replace(document, target="the end") for document in DOCUMENTS]
    table = counted(Antecedents(candidates=candidates), family, documents, batch_size=4, rows=3).table()
    assert set(table["kind"]) == {"self"}
    assert set(table["stack"]) == {stack or "encoder"}, "of an encoder-decoder, what reads the annotated text"
    assert_equals_the_loop(table, list(textbook(lens_for(family), documents, candidates, stack)))


def test_a_second_segment_offers_no_candidates() -> None:
    pairs = [replace(document, pair_words=["the", "cat", "sat"]) for document in DOCUMENTS]
    table = counted(Antecedents(), "bert", pairs, batch_size=4).table()
    assert_equals_the_loop(table, list(textbook(lens_for("bert"), pairs, "words")))


def test_what_truncation_cuts_off_is_not_judged() -> None:
    lens = lens_for("bert")
    long = annotated("the cat sat on a cat . " + "a dog sat . " * 20)
    run = headscope.study(lens, [long], ["antecedents"], max_tokens=9, truncate=True)
    assert (run["antecedents"]["cases_all"] == 2).all()


def test_documents_without_mentions_are_named() -> None:
    with pytest.raises(InputError, match="antecedents needs mentions"):
        headscope.study(lens_for("bert"), ["the cat"], ["antecedents"])


def test_the_how_to_works_when_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = places.DOCS / "how-to" / "coreference.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "litbank" / "tsv").mkdir(parents=True)
    (tmp_path / "litbank" / "tsv" / "a.ann").write_text(LITBANK, encoding="utf-8")
    (tmp_path / "litbank" / "tsv" / "a.txt").write_text(LITBANK_TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {"model": tiny("bert"), "tokenizer": tiny_tokenizer("wordpiece")}
    exec(code.replace('"bert-base-uncased"', "model, tokenizer"), names)
    table = names["run"]["antecedents"]  # type: ignore[index]
    assert (table["cases_pronoun"] == 1).all(), "Ann ... She"
    printed = capsys.readouterr().out
    assert "held_out" in printed
    assert "rule-based  1.0" in re.sub(" +", "  ", printed)
