"""Words aligned by cross attention, against loops over full maps: every setting and measure, padding, blocks of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import headscope
from headscope.alignment.choice import Choice, highest_norm, lowest_aer
from headscope.alignment.linking import encode_pair, link
from headscope.errors import InputError
from headscope.lens.block import AttentionBlock
from headscope.lens.tokens.encoding import Encoded
from headscope.lens.tokens.word_encoding import encode_words, frame
from headscope.statistics import AlignmentErrors, MeanScore
from headscope.statistics.alignment.picking import Picker
from headscope.statistics.alignment.scores import alignment_counts
from headscope.statistics.alignment.sides import AWI, AWO, NO_LINK, SETTINGS, Sides
from headscope.text import Document
from headscope.text.cut import half_of
from headscope.text.links import Links
from tests.architectures.tiny_models import build
from tests.statistics.tester import lens_for
from tests.tiny_tokenizers import tiny_tokenizer

MEASURES = ("weight", "norm", "joint_weight", "joint_norm")
PAIRS = [
    Document(
        words=["the", "unbelievable", "cats", "sat", "on", "the", "mat", "."],
        target_words=["two", "unbelievable", "dogs", "sat"],
        alignment=Links(frozenset({(1, 1), (3, 3)}), frozenset({(2, 2), (0, 0)})),
    ),
    Document(
        words=["a", "dog", ","],
        target_words=["words", "split", "pre", "the", "end", "."],
        alignment=Links.of([(1, 4), (0, 0)]),
    ),
    Document(words=["cat"], target_words=["unbelievable"], alignment=Links.of([(0, 0)])),
]


def full_map(lens: headscope.Lens, encoded: Encoded, measure: str, layer: int) -> np.ndarray:
    """Scores of one pair, read by itself: (head, row, key)."""
    found: list[AttentionBlock] = []
    lens.run(lens.encoder.collate([encoded]), found.append)
    (block,) = [block for block in found if block.site.kind == "cross" and block.site.layer == layer]
    return block.scores(measure)[0].double().numpy()


def by_loops(encoded: Encoded, scores: np.ndarray, setting: str) -> list[int]:
    """One head's (row, key) scores -> the source word of each target word; the textbook."""
    assert encoded.target is not None
    chosen = []
    for word in range(len(encoded.target.words)):
        rows = [row for row, of in enumerate(encoded.target.word_of) if of == word]
        mean = np.mean([scores[row if setting == AWI else row - 1] for row in rows], axis=0)
        candidates: list[tuple[float, int]] = []
        for source in range(len(encoded.source.words)):
            pieces = [key for key, of in enumerate(encoded.source.word_of) if of == source]
            candidates.append((sum(mean[key] for key in pieces), source))
        candidates += [(mean[key], NO_LINK) for key, special in enumerate(encoded.source.special) if special]
        chosen.append(max(candidates, key=lambda pair: pair[0])[1])
    return chosen


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("rows", [None, 2])
def test_the_choice_is_that_of_loops_over_full_maps(measure: str, rows: int | None) -> None:
    lens = lens_for("marian")
    encoded = [encode_pair(lens, document) for document in PAIRS]
    pickers = {(setting, layer): Picker(setting, measure) for setting in SETTINGS for layer in range(2)}
    found: dict[tuple[str, int], torch.Tensor] = {}

    def receive(block: AttentionBlock) -> None:
        for setting in SETTINGS if block.site.kind == "cross" else ():
            chosen = pickers[setting, block.site.layer](block)
            if chosen is not None:
                found[setting, block.site.layer] = chosen

    lens.run(lens.encoder.collate(encoded), receive, rows=rows)
    for (setting, layer), chosen in found.items():
        for text, one in enumerate(encoded):
            maps = full_map(lens, one, measure, layer)
            for head in range(len(maps)):
                assert one.target is not None
                ours = chosen[text, head, : len(one.target.words)].tolist()
                assert ours == by_loops(one, maps[head], setting)
    assert len(found) == 4


def test_by_hand() -> None:
    """Source: a word of two pieces, a word, </s>. Target: start, a word of two pieces, another word."""
    sides = Sides([[0, 0, 1, None]], [[None, 0, 0, 1]], [[False, False, False, True]], torch.device("cpu"))
    scores = torch.tensor(
        [
            [0.0, 0.0, 0.9, 0.1],  # predicts word 0
            [0.3, 0.3, 0.4, 0.0],  # reads word 0; predicts its second piece
            [0.2, 0.1, 0.2, 0.5],  # reads its second piece; predicts word 1
            [0.1, 0.0, 0.1, 0.8],  # reads word 1
        ]
    )[None, None]
    # AWI: word 0 has (0.25 + 0.2 = 0.45, 0.3, 0.25), word 1 </s>. AWO: word 0 has (0.3, 0.65, 0.05), word 1 </s>.
    assert sides.choose(sides.merged(scores, AWI, range(4))).tolist() == [[[0, NO_LINK]]]
    assert sides.choose(sides.merged(scores, AWO, range(4))).tolist() == [[[1, NO_LINK]]]
    halves = sides.merged(scores[:, :, :2], AWI, range(2)) + sides.merged(scores[:, :, 2:], AWI, range(2, 4))
    torch.testing.assert_close(halves, sides.merged(scores, AWI, range(4)))
    torch.testing.assert_close(halves[0, 0, 0], torch.tensor([0.45, 0.3, 0.25]))


@pytest.mark.parametrize("measure", MEASURES)
def test_errors_are_those_of_the_links(measure: str) -> None:
    lens = lens_for("marian")
    for setting in SETTINGS:
        statistic = AlignmentErrors(measure, setting=setting).start(lens.sites)
        for document in PAIRS:
            lens.run(lens.encoder.collate([encode_pair(lens, document)]), statistic.update)
        table = statistic.table()
        assert set(table["kind"]) == {"cross"}
        for row in table.itertuples():
            head = None if measure.startswith("joint") else int(row.head)
            choice = Choice(int(row.layer), head, measure.removeprefix("joint_"), setting)
            counts = np.array(
                [
                    alignment_counts(found, document.alignment)
                    for found, document in zip(link(lens, PAIRS, choice, batch_size=2), PAIRS, strict=True)
                ]
            )
            found, in_sure, in_possible, sure = counts.sum(0)
            assert row.aer == pytest.approx(1 - (in_sure + in_possible) / (found + sure))
            one = counts[[half_of(document) == 1 for document in PAIRS]].sum(0)
            assert row.aer_half_1 == pytest.approx(1 - (one[1] + one[2]) / (one[0] + one[3]) if one[0] + one[3] else 0)


def test_mean_score_is_the_mean_of_the_full_map() -> None:
    lens = lens_for("marian")
    (encoded,) = [encode_pair(lens, PAIRS[0])]
    mean = MeanScore("norm").start(lens.sites)
    lens.run(lens.encoder.collate([encoded]), mean.update)
    table = mean.table().query("kind == 'cross' and layer == 1")
    np.testing.assert_allclose(table["mean_score"], full_map(lens, encoded, "norm", 1).mean((1, 2)), rtol=1e-5)


@pytest.mark.parametrize("architecture", ["bart", "t5", "m2m_100", "mbart"])
def test_other_encoder_decoders_go_the_same_way(architecture: str) -> None:
    small = build(architecture)
    if small.model.config.vocab_size < 80:
        pytest.fail("the tokenizer's ids do not fit this model")
    with headscope.open(small.model, tiny_tokenizer("bpe")) as lens:
        for setting in SETTINGS:
            choice = Choice(0, None, "norm", setting)
            found = link(lens, PAIRS, choice)
            assert found == [link(lens, [document], choice)[0] for document in PAIRS]
            encoded = encode_pair(lens, PAIRS[0])
            expected = by_loops(encoded, full_map(lens, encoded, "joint_norm", 0)[0], setting)
            assert found[0] == {(source, target) for target, source in enumerate(expected) if source != NO_LINK}


def test_words_one_by_one() -> None:
    tokenizer = tiny_tokenizer("bpe")
    sequence = encode_words(tokenizer, ["the", "cats", "the"])
    assert tokenizer.decode(sequence.ids, skip_special_tokens=True) == "the cats the"
    assert sequence.word_of[-1] is None
    assert list(dict.fromkeys(sequence.word_of[:-1])) == [0, 1, 2]
    assert sequence.special == [False] * (len(sequence) - 1) + [True]
    assert frame(tiny_tokenizer("wordpiece"), target=False) == ([2], [3])
    with pytest.raises(InputError, match="at most 3"):
        encode_words(tokenizer, ["the", "cats", "the"], max_tokens=3)


def test_rules() -> None:
    means = pd.DataFrame({"layer": [0, 0, 1, 1], "head": [0, 1, 0, 1], "mean_score": [5.0, 0.0, 3.0, 4.0]})
    assert highest_norm(means, heads=True).label == "head 0.0 by norm, AWI"
    assert highest_norm(means, heads=False).label == "layer 1 by norm, AWI"  # 7 against 5: a layer is the sum of its heads
    errors = pd.DataFrame(
        {
            "setting": ["AWI", "AWO"],
            "measure": ["norm", "weight"],
            "layer": [0, 3],
            "head": [pd.NA, pd.NA],
            "aer": [0.4, 0.3],
        }
    )
    assert lowest_aer(errors).label == "layer 3 by weight, AWO"
    assert lowest_aer(errors).scores == "joint_weight"
