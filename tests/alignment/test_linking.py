"""Decoder-only alignment: the prompt's pieces and their words, and links against a loop over full maps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import headscope
from headscope.alignment.choice import Choice
from headscope.alignment.linking import link
from headscope.errors import InputError
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.tokens.prompts import Prompt
from headscope.statistics.alignment.sides import prompt_sides
from headscope.text import Document
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

PROMPT = Prompt("the, {source}!end, {target}!")
PAIRS = [
    Document(words=["a", "dog"], target_words=["unbelievable", "cat", "sat"]),
    Document(words=["the", "unbelievable", "mat", "end"], target_words=["two"]),
    Document(words=["words"], target_words=["dogs", "on"]),
]


@pytest.fixture(scope="module")
def lens() -> Iterator[Lens]:
    with headscope.open(tiny("llama"), tiny_tokenizer("bpe")) as opened:
        yield opened


def pieces(sequence: TokenSequence, word: int | None) -> str:
    return "".join(token for token, of in zip(sequence.tokens, sequence.word_of, strict=True) if of == word)


def test_every_piece_knows_its_word() -> None:
    tokenizer = tiny_tokenizer("bpe")
    sequence = PROMPT.sequence(tokenizer, PAIRS[0])
    assert tokenizer.decode(sequence.ids) == "the, a dog!end, unbelievable cat sat!"
    assert sequence.words == ["a", "dog", "unbelievable", "cat", "sat"]
    # A space of the template belongs to the word after it, as it does between words: byte-level pieces begin with it.
    assert [pieces(sequence, word) for word in range(5)] == [
        "\u0120a",
        "\u0120dog",
        "\u0120unbelievable",
        "\u0120cat",
        "\u0120sat",
    ]
    assert pieces(sequence, None) == "the,!end,!"
    words = [word for word in sequence.word_of if word is not None]
    assert words == sorted(words)


def test_without_a_space_before_it_a_word_is_as_at_the_start() -> None:
    tokenizer = tiny_tokenizer("bpe")
    sequence = Prompt("{source}!{target}").sequence(tokenizer, PAIRS[0])
    assert tokenizer.decode(sequence.ids) == "a dog!unbelievable cat sat"
    assert [pieces(sequence, word) for word in (0, 2)] == ["a", "unbelievable"]


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_words_have_the_same_pieces_in_every_prompt(kind: str) -> None:
    """What follows a space is tokenised as a later word of a text is, whatever the template says before it."""
    tokenizer = tiny_tokenizer(kind)
    for template in ("{source} {target}", "the cat: {source}, the dog: {target}."):
        sequence = Prompt(template).sequence(tokenizer, PAIRS[1])
        for word, text in enumerate(sequence.words):
            own = [piece for piece, of in zip(sequence.ids, sequence.word_of, strict=True) if of == word]
            spaced = " " if kind == "bpe" and not (word == 0 and template.startswith("{")) else ""
            assert own == tokenizer(spaced + text, add_special_tokens=False)["input_ids"]


def test_a_start_token_stands_there_once_and_an_end_token_not_at_all() -> None:
    wordpiece = tiny_tokenizer("wordpiece")
    for template in ("{source} {target}", "[CLS] {source} {target}"):
        sequence = Prompt(template).sequence(wordpiece, PAIRS[0])
        assert sequence.tokens.count("[CLS]") == 1
        assert sequence.tokens[0] == "[CLS]"
        assert sequence.special == [True] + [False] * (len(sequence) - 1)
        assert "[SEP]" not in sequence.tokens


def test_chat_prompt() -> None:
    tokenizer = tiny_tokenizer("bpe")
    with pytest.raises(InputError, match="no chat template"):
        Prompt.chat(tokenizer)

    class Chat:
        chat_template = "some"

        def apply_chat_template(self, message: list[dict[str, str]], tokenize: bool, add_generation_prompt: bool) -> str:
            assert not tokenize
            return f"<{message[0]['role']}>{message[0]['content']}" + "</s><bot>\n" * add_generation_prompt

    assert Prompt.chat(Chat(), "in English, {source}").template == "<user>in English, {source}</s><bot>\n{target}"


@pytest.mark.parametrize(
    "template", ["{source}", "{target} {source}", "{source}{source}{target}", "", "{source} {target} {target}"]
)
def test_templates_that_are_none(template: str) -> None:
    with pytest.raises(InputError, match=r"\{source\} once and \{target\} once after it"):
        Prompt(template)


def scored(lens: Lens, sequence: TokenSequence, choice: Choice) -> Tensor:
    """Full maps of one prompt by itself: (row, key), by the named measure."""
    ids = torch.tensor([sequence.ids])
    maps: list[Tensor] = []

    def receive(block: AttentionBlock) -> None:
        if block.site.layer == choice.layer:
            maps.append(block.scores(choice.scores)[0, choice.head or 0])

    lens.run(Batch({"input_ids": ids, "attention_mask": torch.ones_like(ids)}), receive)
    return torch.cat(maps)


def by_loop(lens: Lens, document: Document, choice: Choice) -> frozenset[tuple[int, int]]:
    sequence = PROMPT.sequence(lens.tokenizer, document)
    scores = scored(lens, sequence, choice)
    sources = len(document.words or ())
    found = set()
    for target in range(len(document.target_words or ())):
        rows = [row for row, word in enumerate(sequence.word_of) if word == sources + target]
        best, best_score = -1, -1.0
        for source in range(sources):
            keys = [key for key, word in enumerate(sequence.word_of) if word == source]
            shift = 0 if choice.setting == "AWI" else 1
            mean = sum(sum(float(scores[row - shift, key]) for key in keys) for row in rows) / len(rows)
            if mean > best_score:
                best, best_score = source, mean
        found.add((best, target))
    return frozenset(found)


@pytest.mark.parametrize("setting", ["AWI", "AWO"])
@pytest.mark.parametrize(("head", "measure"), [(None, "weight"), (None, "norm"), (0, "weight"), (3, "norm")])
def test_links_are_those_of_a_loop_over_full_maps(lens: Lens, setting: str, head: int | None, measure: str) -> None:
    for layer in range(3):
        choice = Choice(layer, head, measure, setting)
        expected = [by_loop(lens, document, choice) for document in PAIRS]
        assert link(lens, PAIRS, choice, prompt=PROMPT, batch_size=2) == expected
        assert link(lens, PAIRS[::-1], choice, prompt=PROMPT) == expected[::-1]


def test_the_settings_read_different_rows(lens: Lens) -> None:
    batch = lens.encoder.collate([lens.encoder.encode(document, encoding=PROMPT) for document in PAIRS[:1]])
    sides, sequence = batch.cached(prompt_sides), batch.sources[0]
    assert batch.cached(prompt_sides) is sides
    length = len(sequence)
    rows = torch.zeros(1, 1, length, length)
    row = sequence.word_of.index(3)  # the first piece of "cat", the second target word
    rows[0, 0, row, sequence.word_of.index(1)] = 1
    rows[0, 0, row - 1, sequence.word_of.index(0)] = 1
    assert int(sides.choose(sides.merged(rows, "AWI", range(length)))[0, 0, 1]) == 1
    assert int(sides.choose(sides.merged(rows, "AWO", range(length)))[0, 0, 1]) == 0


@given(st.permutations(range(3)), st.integers(1, 3), st.sampled_from([Choice(1), Choice(2, 1, "weight", "AWO")]))
def test_order_and_batch_do_not_matter(lens: Lens, order: list[int], batch_size: int, choice: Choice) -> None:
    expected = link(lens, PAIRS, choice, prompt=PROMPT)
    found = link(lens, [PAIRS[place] for place in order], choice, prompt=PROMPT, batch_size=batch_size)
    assert found == [expected[place] for place in order]


def test_only_source_words_are_linked(lens: Lens) -> None:
    """Each target word has one link, to a source word, although the first token is in sight of every row."""
    for document, links in zip(PAIRS, link(lens, PAIRS, Choice(0), prompt=PROMPT), strict=True):
        assert sorted(target for _, target in links) == list(range(len(document.target_words or ())))
        assert all(source in range(len(document.words or ())) for source, _ in links)


def test_errors(lens: Lens) -> None:
    with pytest.raises(InputError, match="in layer 3; choose one of 0 to 2"):
        link(lens, PAIRS, Choice(3, 0), prompt=PROMPT)
    with pytest.raises(InputError, match="no head 4 in layer 1; choose one of 0 to 3"):
        link(lens, PAIRS, Choice(1, 4), prompt=PROMPT)
    with pytest.raises(InputError, match="here:1: A pair for a prompt needs words on both sides"):
        link(lens, [Document(words=["the"], name="here:1")], Choice(0), prompt=PROMPT)
    with pytest.raises(InputError, match=r"here:2: The text has .* tokens, but this model reads at most 64"):
        link(lens, [Document(words=["the"] * 40, target_words=["cat"] * 40, name="here:2")], Choice(0), prompt=PROMPT)
    for family, tokenizer in (("bert", "wordpiece"), ("marian", "bpe")):
        with (
            headscope.open(tiny(family), tiny_tokenizer(tokenizer)) as other,
            pytest.raises(InputError, match="not a decoder"),
        ):
            link(other, PAIRS, Choice(0), prompt=PROMPT)
    with headscope.open(tiny("llama")) as bare, pytest.raises(InputError, match="no tokenizer"):
        link(bare, PAIRS, Choice(0), prompt=PROMPT)
