"""One text read for the page: packed attention by attention, inside the forward pass.

So no more than one attention's floats are ever in memory, and a request that nobody waits for stops at the next one.
"""

import gzip
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

from headscope.errors import InputError, TooLong
from headscope.lens import AttentionBlock, Lens, Reading, Site
from headscope.lens.predictions import Out
from headscope.lens.sinks import TextSinks
from headscope.lens.telling import Telling, TextTelling
from headscope.lens.tokens.batch import Batch
from headscope.measures import MEASURES
from headscope.server.queue import Check
from headscope.server.schemas import ReadRequest, TextRequest
from headscope.text import Document
from headscope.views import schema
from headscope.views.content import Content
from headscope.views.from_reading import USUAL, check_numbers, content_of
from headscope.views.pack import Packed, pack, telling_json

CHARACTERS = 32  # of a text for each token that it may have; longer texts are not even tokenised


def read(lens: Lens, asked: ReadRequest, max_tokens: int, check: Check) -> Packed:
    """What views.pack.pack gives of the same reading."""
    batch = encode(lens, asked, max_tokens)
    parts: list[Packed] = []

    def take(content: Content) -> None:
        parts.append(pack(content, exact=asked.exact, level=1, first=len(parts)))  # one attention, one chunk

    return joined(parts, run(lens, asked, batch, check, take))


class OfText(NamedTuple):
    """What only all layers together tell of a text, by kind of attention."""

    sinks: dict[str, list[bool]]
    telling: dict[str, list[Telling]]


def run(lens: Lens, asked: ReadRequest, batch: Batch, check: Check, take: Callable[[Content], None]) -> OfText:
    """The model, once. `take` gets a content of each attention as soon as it is there, and keeps of it what it needs."""
    measures = list(dict.fromkeys(asked.measures or USUAL))
    for name in measures:
        if MEASURES[name].per_key:
            raise InputError(f"{name} has one number a token and none for pairs, and comes with every answer: leave it out.")
    check()
    check_numbers(_numbers(lens, asked, batch), "shorten it, or ask for fewer layers")
    sinks, telling = TextSinks(), TextTelling()

    def receive(block: AttentionBlock) -> None:
        check()
        sinks.add(block)
        telling.add(block)
        take(content_of(Reading([block], batch, model=asked.model), measures, neurons=asked.neurons))

    with ExitStack() as stack:
        if out := out_of(asked):
            stack.enter_context(out.of(lens))
        lens.run(batch, receive, rows=None, layers=asked.layers)
    check()
    found = sinks.by_group()
    return OfText(found, telling.by_group(found))


def out_of(asked: TextRequest) -> Out | None:
    """The heads that a request takes out, where it does."""
    return Out(tuple(asked.without), asked.how) if asked.without else None


def sites_of(lens: Lens, asked: ReadRequest, batch: Batch) -> list[Site]:
    """The attentions that the model runs for a request."""
    sites = [site for site in lens.sites if asked.layers is None or site.layer in asked.layers]
    return [site for site in sites if batch.has_target or not lens.is_encoder_decoder or site.stack == "encoder"]


def encode(lens: Lens, asked: TextRequest, max_tokens: int) -> Batch:
    """The request's texts as tokens, or a sentence that says the limit."""
    max_characters = CHARACTERS * max_tokens
    texts = {name: getattr(asked, name) for name in ("text", "pair", "target")}
    for name, text in texts.items():
        if text is not None and len(text) > max_characters:
            if not asked.truncate:
                raise InputError(
                    f"The {name} has {len(text):,} characters, and this server reads at most {max_tokens} tokens "
                    f"(and {max_characters:,} characters) a text: shorten it, or ask for it to be truncated."
                )
            texts[name] = text[:max_characters]
    document = Document(texts["text"], texts["pair"], texts["target"])
    try:
        encoded = lens.encoder.encode(document, max_tokens=max_tokens if asked.truncate else None, truncate=asked.truncate)
    except TooLong as error:
        raise InputError(
            f"The text has {error.length} tokens, and {asked.model} reads at most {error.max_tokens}: shorten it, "
            "or ask for it to be truncated."
        ) from error
    for what, sequence in (("text", encoded.source), ("target", encoded.target)):
        if sequence is not None and len(sequence) > max_tokens:
            raise InputError(
                f"The {what} has {len(sequence)} tokens, and this server reads at most {max_tokens}: shorten it, "
                "ask for it to be truncated, or start the server with a higher --max-tokens."
            )
    return lens.encoder.collate([encoded])


def joined(parts: list[Packed], text: OfText) -> Packed:
    """Packed attentions one after another, as if they had been packed together."""
    descriptions = [part.description for part in parts]
    measures = {one["name"]: one for description in descriptions for one in description["measures"]}
    whole: schema.Content = {
        **descriptions[0],
        "sinks": text.sinks,
        "telling": telling_json(text.telling),
        "attentions": [one for description in descriptions for one in description["attentions"]],
        "measures": list(measures.values()),
        "error": max(description["error"] for description in descriptions),
    }
    return Packed(whole, [chunk for part in parts for chunk in part.chunks])


def as_bytes(answer: Mapping[str, Any]) -> bytes:
    """An answer as JSON, compressed by gzip: chunks in base64 lose a quarter again, and more is not to be had."""
    return gzip.compress(json.dumps(answer, separators=(",", ":"), allow_nan=False).encode(), 1)


def _numbers(lens: Lens, asked: ReadRequest, batch: Batch) -> int:
    sites = sites_of(lens, asked, batch)
    return sum(site.heads * batch.query_length(site) * len(batch.key_sequences(site)[0]) for site in sites)
