"""Plain text: a document a line, a paragraph, or two consecutive paragraphs as clark2019 and kobayashi2020 feed BERT."""

from collections.abc import Iterable, Iterator

from headscope.text.document import Document
from headscope.text.readers.line_blocks import LineBlock, Result, by_blank_lines, one_by_one, parse_each
from headscope.text.readers.lines import Line
from headscope.text.readers.text_form import heading_level


def read_lines(lines: Iterable[Line], path: str) -> Iterator[Result]:
    """A document a line; blank lines are none."""
    return parse_each(one_by_one(lines, path), _parse)


def read_paragraphs(lines: Iterable[Line], path: str) -> Iterator[Result]:
    """A document a paragraph: lines up to a blank one, joined by spaces."""
    return parse_each(by_blank_lines(lines, path), _parse)


def read_paragraph_pairs(lines: Iterable[Line], path: str) -> Iterator[Result]:
    """`[CLS] paragraph [SEP] next paragraph [SEP]`: the first and the second, the third and the fourth, and so on.

    Headings are no paragraphs, and the title of an article (` = Title = `) ends the one before it: no pair
    crosses it. Every paragraph is in one document: where an article has an odd number, the last joins the
    pair before it, and an only one stands without a pair. (clark2019's released code packs sentences up to
    the limit, cuts the pack at random and drops what has no partner; the paper's text is followed here.)
    """
    return parse_each(_by_pairs(by_blank_lines(lines, path)), _parse)


def _parse(block: LineBlock) -> Document:
    first, *rest = map(_text, by_blank_lines(block.lines, block.path))
    return Document(first, pair=" ".join(rest) or None, name=block.name)


def _by_pairs(paragraphs: Iterable[LineBlock]) -> Iterator[LineBlock]:
    """Two paragraphs of an article are a block, its last two or three another; a blank line stands between them."""
    waiting: list[LineBlock] = []
    for paragraph in paragraphs:
        level = heading_level(_text(paragraph))
        if level == 0:
            waiting.append(paragraph)
        if level == 1 and waiting:
            yield _joined(waiting)
            waiting = []
        if len(waiting) == 4:
            yield _joined(waiting[:2])
            waiting = waiting[2:]
    if waiting:
        yield _joined(waiting)


def _joined(paragraphs: list[LineBlock]) -> LineBlock:
    lines = list(paragraphs[0].lines)
    for paragraph in paragraphs[1:]:
        lines += [Line(paragraph.lines[0].number - 1, ""), *paragraph.lines]
    return LineBlock(paragraphs[0].path, lines)


def _text(block: LineBlock) -> str:
    return " ".join(line.text.strip() for line in block.lines)
