"""Annotator: words, spaces, tags, heads, relations and sentences for plain texts, from a spaCy pipeline."""

import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Self

from headscope.errors import InputError, MissingExtra
from headscope.text.document import Document

UNITS = ("document", "sentence")
UNUSED = ["ner", "lemmatizer"]  # they take time and give nothing that is kept


@dataclass(frozen=True, eq=False)
class Annotator:
    """With unit="sentence" every sentence becomes a document, as vig2019 reads them."""

    pipeline: Any
    name: str
    _: KW_ONLY
    unit: str = UNITS[0]
    batch_size: int = 64

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise InputError(f"An annotator's unit is one of {', '.join(UNITS)}, not {self.unit!r}.")

    @classmethod
    def of(cls, name: str, *, unit: str = UNITS[0], batch_size: int = 64) -> Self:
        """`spacy:PIPELINE`, where PIPELINE is an installed package such as en_core_web_sm, or a folder."""
        kind, _, pipeline = name.partition(":")
        if kind != "spacy" or not pipeline:
            raise InputError(f"There is no annotator {name!r}: write spacy:PIPELINE, for example spacy:en_core_web_sm.")
        return cls(_load(pipeline), name, unit=unit, batch_size=batch_size)

    def check(self, document: Document) -> None:
        """InputError if this document cannot be annotated."""
        others = (document.pair, document.pair_words, document.target, document.target_words)
        if document.text is None or any(other is not None for other in others):
            raise InputError("Only a single plain text can be annotated, not words, pairs or translations.")
        if len(document.text) > self.pipeline.max_length:
            raise InputError(
                f"The text has {len(document.text):,} characters, but spaCy reads {self.pipeline.max_length:,} at most: "
                "cut it, or read it by paragraphs."
            )

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with words and layers on them, a batch at a time."""
        texts = ((document.text, document) for document in self._checked(documents))
        for parsed, document in self.pipeline.pipe(texts, as_tuples=True, batch_size=self.batch_size):
            if self.unit == "document":
                yield _annotated(parsed, parsed, document, document.name)
                continue
            if not parsed.has_annotation("SENT_START"):
                raise InputError(f"{self.name} finds no sentences: choose a pipeline that has a parser.")
            spoken = (sentence for sentence in parsed.sents if not sentence.text.isspace())
            for number, sentence in enumerate(spoken, 1):
                yield _annotated(sentence, parsed, document, f"{document.name}#{number}")

    def describe(self) -> dict[str, Any]:
        """The pipeline and everything else that decides what it says."""
        meta = self.pipeline.meta
        versions = {"version": meta["version"], "spacy": importlib.import_module("spacy").__version__}
        return {"name": self.name, "pipeline": f"{meta['lang']}_{meta['name']}", **versions, "unit": self.unit}

    def _checked(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            self.check(document)
            yield document


def _annotated(span: Any, parsed: Any, document: Document, name: str) -> Document:
    """The document of a spaCy Doc, or of one sentence of it; tokens that are only space are no words."""
    tokens = [token for token in span if not token.is_space]
    place = {token.i: index for index, token in enumerate(tokens)}
    has = parsed.has_annotation
    return replace(
        document,
        text=None,
        name=name,
        words=[token.text for token in tokens],
        spaces=[_space_follows(token, parsed) for token in tokens],
        tags=[token.pos_ for token in tokens] if has("POS") else None,
        fine_tags=[token.tag_ for token in tokens] if has("TAG") else None,
        parents=[_head(token, place) for token in tokens] if has("DEP") else None,
        relations=[token.dep_ for token in tokens] if has("DEP") else None,
        sentences=_sentences(span, place) if has("SENT_START") else None,
    )


def _space_follows(token: Any, parsed: Any) -> bool:
    return bool(token.whitespace_) or (token.i + 1 < len(parsed) and parsed[token.i + 1].is_space)


def _head(token: Any, place: dict[int, int]) -> int:
    """The nearest ancestor that is a word; -1 for a root, or where there is none."""
    return next((place[ancestor.i] for ancestor in token.ancestors if ancestor.i in place), -1)


def _sentences(span: Any, place: dict[int, int]) -> Sequence[tuple[int, int]]:
    inside = ([place[token.i] for token in sentence if token.i in place] for sentence in span.sents)
    return [(words[0], words[-1] + 1) for words in inside if words]


def _load(pipeline: str) -> Any:
    try:
        spacy = importlib.import_module("spacy")
    except ImportError:
        raise MissingExtra("Annotating plain text", "spacy") from None
    folder = Path(pipeline)
    if folder.is_dir() and not (folder / "config.cfg").exists():
        # A model's package holds the pipeline itself in a folder inside.
        folder = next((config.parent for config in sorted(folder.glob("*/config.cfg"))), folder)
    try:
        return spacy.load(folder if folder.is_dir() else pipeline, exclude=UNUSED)
    except (OSError, ValueError) as error:
        raise InputError(
            f"spaCy cannot load the pipeline {pipeline!r} ({error}): "
            "install it (python -m spacy download NAME), or give its folder."
        ) from None
