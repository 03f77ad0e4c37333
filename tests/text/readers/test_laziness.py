"""Readers stream: the first document is there before the file has been read to its end."""

from __future__ import annotations

import os
import random
import threading
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from headscope.text import FORMATS, Corpus, Document
from headscope.text.readers.conll2012 import read_conll2012
from headscope.text.readers.conllu import read_conllu
from headscope.text.readers.jsonl import read_jsonl
from headscope.text.readers.lines import Line
from headscope.text.readers.plain import read_lines, read_paragraph_pairs, read_paragraphs
from tests.text.samples import SAMPLES, parquet_bytes

READERS = {
    "lines": read_lines,
    "paragraphs": read_paragraphs,
    "paragraph-pairs": read_paragraph_pairs,
    "jsonl": read_jsonl,
    "conllu": read_conllu,
    "conll2012": read_conll2012,
}


def test_every_reader_of_lines_is_here() -> None:
    assert set(READERS) == set(FORMATS) - {"parquet", "litbank"}, (
        "Parquet is read by batches; LitBank's file is one document"
    )


@pytest.mark.parametrize("format", READERS)
def test_an_endless_file_has_a_first_document(format: str) -> None:
    given = 0

    def endless() -> Iterator[Line]:
        nonlocal given
        while True:
            for line in SAMPLES[format].decode().split("\n"):
                given += 1
                yield Line(given, line)

    documents = list(islice(READERS[format](endless(), "f"), 10))
    assert all(isinstance(document, Document) for document in documents)
    assert given < 200


def test_a_pipe_that_is_still_open(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    first_was_read = threading.Event()

    def speak() -> None:
        with pipe.open("w", encoding="utf-8") as file:
            file.write("first\n")
            file.flush()
            assert first_was_read.wait(10)
            file.write("second\n")

    speaker = threading.Thread(target=speak)
    speaker.start()
    documents = iter(Corpus.from_files(pipe, format="lines"))
    assert next(documents).text == "first"
    first_was_read.set()
    assert next(documents).text == "second"
    speaker.join()


@pytest.mark.parametrize("format", ["lines", "parquet"])
def test_memory_does_not_grow_with_the_file(format: str, tmp_path: Path) -> None:
    rows = [f"{number} {random.Random(number).randbytes(1000).hex()}" for number in range(5000)]
    content = parquet_bytes(5000, text=rows) if format == "parquet" else "\n".join(rows).encode()
    (tmp_path / "large").write_bytes(content)
    corpus = Corpus.from_files(tmp_path / "large", format=format)
    tracemalloc.start()
    assert sum(1 for _ in corpus) == 5000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000, "the texts alone are 10 MB"
