"""Links drawn: which lines there are, of which kind, between which words; and the same bytes every time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headscope import colours
from headscope.alignment.drawing import check_lines, draw_links, draw_pairs
from headscope.errors import InputError
from headscope.study.results import figures
from headscope.text import Document
from headscope.text.links import Links

PAIR = Document(words=["le", "petit", "chat", "$x$"], target_words=["the", "cat", "&"])
GOLD = Links(sure=frozenset({(0, 0), (2, 1), (3, 2)}), possible=frozenset({(1, 1)}))
FOUND = {(0, 0): 1.0, (1, 1): 0.5, (1, 2): 0.2}


def lines_of(made) -> list[tuple[str, str, float]]:
    return [
        (line.get_color(), line.get_linestyle(), line.get_alpha()) for line in made.axes[0].lines if len(line.get_xdata())
    ]


def ends_of(made) -> set[tuple[str, str]]:
    """The words that each line is between, by where they stand."""
    words = {text.get_text(): text.get_position() for text in made.axes[0].texts}
    top = max(y for _, y in words.values())
    rows = [{text: x for text, (x, y) in words.items() if (y == top) == above} for above in (True, False)]
    found = set()
    for line in made.axes[0].lines:
        if len(line.get_xdata()):
            ends = [min(row, key=lambda word: abs(row[word] - x)) for row, x in zip(rows, line.get_xdata(), strict=True)]
            found.add(tuple(ends))
    return found


def test_found_wrong_and_missed() -> None:
    made = draw_links(Document(words=PAIR.words, target_words=PAIR.target_words, alignment=GOLD), FOUND, "Line 1")
    assert ends_of(made) == {("le", "the"), ("petit", "cat"), ("petit", "&"), ("chat", "cat"), ("$x$", "&")}
    kinds = [line[:2] for line in lines_of(made)]
    assert kinds.count((colours.FAINT, "--")) == 2  # chat - cat and $x$ - &
    assert kinds.count((colours.BLUE, "-")) == 2
    assert kinds.count((colours.VERMILION, "-")) == 1
    labels = [text.get_text() for text in made.axes[0].get_legend().get_texts()]
    assert len(labels) == 3


def test_without_gold_links_all_are_alike_but_for_their_scores() -> None:
    made = draw_links(PAIR, FOUND)
    assert {line[:2] for line in lines_of(made)} == {(colours.BLUE, "-")}
    assert [line[2] for line in lines_of(made)] == pytest.approx([0.56, 0.725, 1.0])
    assert [text.get_text() for text in made.axes[0].get_legend().get_texts()] == ["found"]


def test_words_do_not_overlap_and_stay_inside(tmp_path: Path) -> None:
    long = Document(words=["extraordinairement", "i", "WWWW", "."] * 8, target_words=["a"] * 20)
    made = draw_links(long, {(31, 19): 0.5})
    figures.write(made, tmp_path / "links.png")
    renderer = FigureCanvasAgg(made).get_renderer()
    boxes = [text.get_window_extent(renderer) for text in made.axes[0].texts]
    width = made.get_size_inches()[0] * made.dpi
    assert all(box.x0 >= 0 and box.x1 <= width for box in boxes)
    for one, other in pairwise(boxes[:32]):
        assert one.x1 < other.x0


def test_no_links_at_all_and_the_same_bytes(tmp_path: Path) -> None:
    draw_links(PAIR, {})
    for name in ("one", "two"):
        figures.save(draw_links(PAIR, FOUND, "Line 1"), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "petit" in (tmp_path / "one.svg").read_text()  # text stays text


def test_lines_of_a_corpus() -> None:
    results = list(draw_pairs([3, 1], [PAIR] * 3, [FOUND, {}, {(2, 1): 0.9}]))
    assert [result.name for result in results] == ["links_1", "links_3"]
    assert results[1].table.to_dict("records") == [{"source": 2, "target": 1, "score": 0.9, "words": "chat - cat"}]
    assert list(draw_pairs([], [PAIR], [FOUND])) == []
    check_lines([3, 1], [PAIR] * 3)
    check_lines([], [])
    with pytest.raises(InputError, match="no line 4 to draw: the texts have 3"):
        check_lines([4], [PAIR] * 3)
