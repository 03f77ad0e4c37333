"""From a document to what the model reads: token ids, and for each token its word and whether it is special."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Self

from headscope.errors import InputError, TooLong
from headscope.lens.quiet import quiet
from headscope.lens.tokens.labels import readable, visible
from headscope.lens.tokens.words import piece_spans, word_spans, words_of_pieces
from headscope.text.document import Document
from headscope.text.natural_text import natural_text

LIMITS = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "seq_length")


@dataclass
class TokenSequence:
    """One text as the model reads it. `word_of[i]` indexes `words`; None at special tokens."""

    ids: list[int]
    tokens: list[str]
    words: list[str]
    word_of: list[int | None]
    special: list[bool]
    segments: list[int] = field(default_factory=list)  # 0 or 1, for sentence pairs
    spans: list[tuple[int, int]] = field(default_factory=list)  # of each token in its segment's text; (0, 0) if special

    @classmethod
    def of_pieces(
        cls, tokenizer: Any, ids: list[int], words: Sequence[str], word_of: list[int | None], special: list[bool]
    ) -> Self:
        """Pieces whose words are known, and whose places in a text are not."""
        return cls(ids, token_names(tokenizer, ids), list(words), word_of, special, [0] * len(ids))

    def __len__(self) -> int:
        return len(self.ids)

    def groups(self) -> tuple[list[str], list[list[int]]]:
        """The sequence in words: labels, and the tokens of each; a token without a word stands for itself."""
        labels: list[str] = []
        members: list[list[int]] = []
        place: dict[int, int] = {}
        for index, word in enumerate(self.word_of):
            if word is not None and place.setdefault(word, len(labels)) < len(labels):
                members[place[word]].append(index)
            else:
                labels.append(self.tokens[index] if word is None else self.words[word])
                members.append([index])
        return labels, members

    def readable(self, level: str = "token") -> list[str]:
        """The tokens, or with `level="word"` the words, as people read them."""
        shown = readable(self.tokens)
        if level == "token":
            return shown
        labels, members = self.groups()
        starts = [pieces[0] for pieces in members]
        named = zip(labels, starts, strict=True)
        return [shown[start] if self.word_of[start] is None else visible(word) for word, start in named]


@dataclass(frozen=True)
class Encoded:
    """A document as the model reads it: its tokens, and for an encoder-decoder those of its target."""

    document: Document
    source: TokenSequence
    target: TokenSequence | None = None


@dataclass(frozen=True)
class Segment:
    """One of the (at most two) texts that a tokenizer joins into a sequence, with the spans of its words."""

    text: str
    spans: list[tuple[int, int]]
    words: list[str]
    is_split: bool = False  # the words were given, not found

    @classmethod
    def of(cls, text: str | None, words: Sequence[str] | None) -> Self:
        if words is not None:
            return cls(*natural_text(words), list(words), is_split=True)
        assert text is not None
        spans = word_spans(text)
        return cls(text, spans, [text[start:stop] for start, stop in spans])


def segments_of(document: Document) -> list[Segment]:
    """A document's text, or its words as they are written, and the second text of a pair."""
    if document.words is None:
        first = Segment.of(document.text, None)
    else:
        first = Segment(*document.text_and_spans(), list(document.words), is_split=True)
    paired = document.pair is not None or document.pair_words is not None
    return [first, Segment.of(document.pair, document.pair_words)] if paired else [first]


def encode(
    tokenizer: Any,
    segments: Sequence[Segment],
    *,
    target: bool = False,
    max_tokens: int | None = None,
    truncate: bool = False,
) -> TokenSequence:
    """Tokenize one or two segments, as a source or as a target, with the tokenizer's own special tokens."""
    texts = [segment.text for segment in segments]
    options: dict[str, Any] = {"verbose": False}
    if truncate and max_tokens is not None:
        options |= {"truncation": True, "max_length": max_tokens}
    if tokenizer.is_fast:
        options["return_offsets_mapping"] = True
    with quiet():  # slow tokenizers advise on what is cut off, once a text
        encoded = tokenizer(text_target=texts[0], **options) if target else tokenizer(*texts, **options)
    ids = list(encoded["input_ids"])
    if tokenizer.is_fast:
        origin = [None if part is None else int(part) for part in encoded.sequence_ids(0)]
        offsets = encoded["offset_mapping"]
    else:
        origin, offsets = _slow_offsets(tokenizer, segments, ids, target)
    check_length(len(ids), max_tokens)
    if all(part is None for part in origin):
        raise InputError("The tokenizer makes no token of this text: there is nothing to read.")
    first_word = [0, len(segments[0].words)]
    word_of: list[int | None] = [None] * len(ids)
    for number, segment in enumerate(segments):
        at = [index for index, part in enumerate(origin) if part == number]
        found = words_of_pieces([offsets[index] for index in at], segment.spans, segment.text)
        for index, word in zip(at, found, strict=True):
            word_of[index] = None if word is None else word + first_word[number]
    words = [word for segment in segments for word in segment.words]
    mask = getattr(tokenizer, "mask_token_id", None)
    for token, word in zip(ids, word_of, strict=True):
        if word is not None and token == mask:
            words[word] = tokenizer.mask_token  # a text has [, MASK and ] there, and the model one token
    return TokenSequence(
        ids=ids,
        tokens=token_names(tokenizer, ids),
        words=words,
        word_of=word_of,
        special=[part is None for part in origin],
        segments=_segments(origin, encoded.get("token_type_ids")),
        spans=[(0, 0) if part is None else tuple(span) for part, span in zip(origin, offsets, strict=True)],
    )


def _slow_offsets(
    tokenizer: Any, segments: Sequence[Segment], ids: list[int], target: bool
) -> tuple[list[int | None], list[tuple[int, int]]]:
    """For a tokenizer without offsets: find each segment's pieces among the ids, and align them with its text."""
    origin: list[int | None] = [None] * len(ids)
    offsets = [(0, 0)] * len(ids)
    cursor = 0
    for number, segment in enumerate(segments):
        pieces = pieces_of(tokenizer, segment.text, target)
        start, count = _longest_start(ids, pieces, cursor)
        spans = _spans_by_word(tokenizer, segment, pieces, target)
        if spans is None:
            spans = piece_spans(segment.text, token_names(tokenizer, pieces))
        for index in range(count):
            origin[start + index] = number
            offsets[start + index] = spans[index]
        cursor = start + count
    return origin, offsets


def token_names(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """As the tokenizer writes them; an id beyond its vocabulary (a model's own start token) is called by its number."""
    names = tokenizer.convert_ids_to_tokens(list(ids))
    return [f"<token {number}>" if name is None else str(name) for number, name in zip(ids, names, strict=True)]


def pieces_of(tokenizer: Any, text: str, target: bool) -> list[int]:
    """A text's token ids, without special tokens."""
    call = {"text_target": text} if target else {"text": text}
    return list(tokenizer(**call, add_special_tokens=False, verbose=False)["input_ids"])


def _spans_by_word(tokenizer: Any, segment: Segment, pieces: list[int], target: bool) -> list[tuple[int, int]] | None:
    """Pre-split words tokenized one by one, where that gives the same pieces: then each piece's word is certain."""
    if not segment.is_split:
        return None
    by_word = [pieces_of(tokenizer, word, target) for word in segment.words]
    if [piece for word in by_word for piece in word] != pieces:
        return None
    return [span for span, word in zip(segment.spans, by_word, strict=True) for _ in word]


def _longest_start(ids: list[int], pieces: list[int], cursor: int) -> tuple[int, int]:
    """Where `pieces`, or as many of its first ones as truncation has left, stand in `ids` from `cursor` on."""
    best = (cursor, 0)
    for start in range(cursor, len(ids)):
        count = 0
        while count < len(pieces) and start + count < len(ids) and ids[start + count] == pieces[count]:
            count += 1
        if count == len(pieces):
            return start, count
        if count > best[1]:
            best = (start, count)
    return best


def _segments(origin: list[int | None], given: list[int] | None) -> list[int]:
    """0 or 1 for every token; a separator belongs to the segment that it ends."""
    return list(given) if given is not None and any(given) else list(accumulate((part or 0 for part in origin), max))


def check_length(length: int, max_tokens: int | None) -> None:
    """An error where a text has more tokens than a model reads."""
    if max_tokens is not None and length > max_tokens:
        raise TooLong(length, max_tokens)


def length_limit(config: Any, tokenizer: Any) -> int | None:
    """How many tokens a model reads at most; None where positions are relative and nothing limits them."""
    text_config = config.get_text_config() if hasattr(config, "get_text_config") else config
    own = next((v for name in LIMITS if isinstance(v := getattr(text_config, name, None), int) and v > 0), None)
    if own is None:
        return None
    stated = getattr(tokenizer, "model_max_length", None)
    return min(own, stated) if isinstance(stated, int) and stated > 0 else own
