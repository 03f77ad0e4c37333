"""The demo's text, and the corpus that it makes: pairs of paragraphs, as kobayashi2020 (section 4) feeds BERT."""

from importlib.resources import files
from pathlib import Path

from headscope.files import write_text
from headscope.text import Corpus

TITLE = "The clock at Saint Orrin"
NAME = "demo.txt"  # in the folder of the demo


def text() -> str:
    return files(__package__).joinpath("text.txt").read_text(encoding="utf-8")


def corpus_in(folder: Path) -> Corpus:
    """The text as a file in `folder`, read as any other: `[CLS] paragraph [SEP] next paragraph [SEP]`."""
    write_text(folder / NAME, text())
    return Corpus.from_files(folder / NAME, format="paragraph-pairs")
