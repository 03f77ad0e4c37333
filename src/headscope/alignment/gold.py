"""A parallel corpus with its gold links."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from headscope.alignment.link_files import Side, SidesExchanged, read_links
from headscope.errors import InputError
from headscope.text import Corpus, parallel_documents
from headscope.text.parallel import sentence_lengths

OPTIONS = {  # of commands that read sentence pairs with gold links, and what they say of them
    "gold": "Gold links: `i-j` sure, `ipj` possible, or NAACL rows.",
    "gold_format": "auto, pharaoh or naacl.",
    "gold_base": "The first word's number, 0 or 1. Default: 0, and 1 in NAACL.",
    "gold_first": "Whose number stands first in a link: source or target.",
}


def with_gold(
    corpus: Corpus,
    path: str | Path,
    *,
    format: Literal["auto", "pharaoh", "naacl"] = "auto",
    base: int | None = None,
    first: Side = "source",
) -> Corpus:
    """The documents of a parallel corpus with their gold links (`alignment`), in memory: gold links are few."""
    if corpus.on_error != "stop":
        raise InputError("Gold links go by lines, so that none can be skipped: leave on_error as it is.")
    links = read_links(path, sentence_lengths(corpus), format=format, base=base, first=first)
    pairs = (replace(document, alignment=gold) for document, gold in zip(corpus, links, strict=True))
    return corpus.choose(pairs, unit="sentence pair")


def first_with_gold(
    corpus: Corpus, path: Path, *, format: Any = "auto", base: int | None = None, first: Any = "source"
) -> Corpus:
    """Those of the first pairs of a corpus that a file has gold links for: what is tuned on.

    A blank line is a pair that nobody has aligned, and is left out.
    """
    count = sum(1 for _ in read_links(path, format=format, base=base, first=first))
    if count == 0:
        raise InputError(f"{path} is empty: give a line of gold links for each of about ten pairs, the first of the texts.")
    pairs = corpus.take(count)
    if (there := sum(1 for _ in pairs)) < count:
        raise InputError(
            f"{path} has gold links of {count} pairs, but the texts have {there}: --tune takes a line for each of the first "
            "pairs of the texts."
        )
    aligned = with_gold(pairs, path, format=format, base=base, first=first)
    return aligned.choose(document for document in aligned if document.alignment and document.alignment.possible)


def read_pairs(
    source: Path,
    target: Path | None,
    first: str,
    gold: Path | None,
    gold_format: str,
    gold_base: int | None,
    gold_first: str,
    first_flag: str = "--first",
) -> Corpus:
    """Sentence pairs as commands are given them: both sides in one file or in two, with gold links or without."""
    pairs: Any = {"first": first}
    corpus = parallel_documents(source, target, **pairs)
    links: Any = {"format": gold_format, "base": gold_base, "first": gold_first}
    try:
        return corpus if gold is None else with_gold(corpus, gold, **links)
    except SidesExchanged as error:
        sources = [document.words or () for document in corpus]
        begins = " ".join(next((words for words in sources if len(words) > 4), sources[0])[:6])  # enough to tell a language
        files = (
            "the two files in the other order" if target else f"{first_flag} {'target' if first == 'source' else 'source'}"
        )
        raise InputError(error.said(f"{begins!r}, as the source has it", files)) from error
