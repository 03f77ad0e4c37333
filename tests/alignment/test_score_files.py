"""Links with their scores: the file of a part, which plain readers read too, and the table for people."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from headscope.alignment.link_files import read_links
from headscope.alignment.score_files import read_scored, write_score_table, write_scored
from headscope.text import Document

LINKS = st.lists(st.dictionaries(st.tuples(st.integers(0, 50), st.integers(0, 50)), st.integers(0, 10_000)), max_size=4)


@given(LINKS)
def test_there_and_back(tmp_path_factory, links) -> None:
    path = tmp_path_factory.mktemp("scores") / "00000.txt"
    scored = [{pair: score / 10_000 for pair, score in one.items()} for one in links]
    write_scored(path, scored)
    assert list(read_scored(path)) == scored
    assert [one.sure for one in read_links(path, format="pharaoh")] == [frozenset(one) for one in scored]


def test_the_table(tmp_path: Path) -> None:
    documents = [
        Document(words=["le", "chat"], target_words=["the", "cat"]),
        Document(words=["a"], target_words=["b"]),
        Document(words=["oui"], target_words=["yes"]),
    ]
    write_score_table(tmp_path / "scores.tsv", [{(1, 1): 0.91234, (0, 0): 1.0}, {}, {(0, 0): 0.25}], documents)
    assert (tmp_path / "scores.tsv").read_text().splitlines() == [
        "line\tsource\ttarget\tscore\tsource_word\ttarget_word",
        "1\t0\t0\t1.0000\tle\tthe",
        "1\t1\t1\t0.9123\tchat\tcat",
        "3\t0\t0\t0.2500\toui\tyes",
    ]
