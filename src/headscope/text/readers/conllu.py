"""CoNLL-U: words, spaces, tags, heads and relations of a treebank, and the coreference that CorefUD adds to it."""

# The conllu library streams, but its errors name no line, and it is slower than this.

from collections.abc import Iterable, Iterator
from pathlib import Path

from headscope.text.document import Document
from headscope.text.readers.brackets import Brackets
from headscope.text.readers.conllu_sentence import Sentence
from headscope.text.readers.entities import KEY
from headscope.text.readers.line_blocks import LineBlock, Result, by_blank_lines, parse_each
from headscope.text.readers.lines import Line, head_of

UNITS = ("sentence", "document")
_WITHIN = 'sentence: read the file by documents, with unit="document" (--unit document)'


def has_coreference(path: Path) -> bool:
    """Whether a file's first sentences have entities, or a line that says how they are written (`# global.Entity`)."""
    head = head_of(path) if path.is_file() else b""  # a pipe cannot be read twice
    return KEY.encode() in head or b"# global.Entity" in head


def read_conllu(lines: Iterable[Line], path: str, *, unit: str = UNITS[0], coreference: bool = False) -> Iterator[Result]:
    """A document a sentence, or with unit="document" all sentences from one `# newdoc` to the next.

    Words are the syntactic words, on which the tree stands; those that are written as one (did + n't) are in
    `multiwords`. Empty nodes and enhanced dependencies are left out. With `coreference`, what has no mention has an empty
    list of them: the file has mentions elsewhere (`has_coreference`).
    """
    blocks = by_blank_lines(lines, path) if unit == "sentence" else _by_newdoc(lines, path)
    return parse_each(blocks, lambda block: _parse(block, unit, coreference))


def _by_newdoc(lines: Iterable[Line], path: str) -> Iterator[LineBlock]:
    """All sentences of a document in one block, with a blank line after each."""
    document: list[Line] = []
    for sentence in by_blank_lines(lines, path):
        if document and any(_key_and_value(line)[0].split()[:1] == ["newdoc"] for line in sentence.lines):
            yield LineBlock(path, document)
            document = []
        document += [*sentence.lines, Line(sentence.lines[-1].number + 1, "")]
    if document:
        yield LineBlock(path, document)


def _parse(block: LineBlock, unit: str, coreference: bool) -> Document | None:
    identity = "sent_id" if unit == "sentence" else "newdoc id"
    brackets = Brackets(block, within=_WITHIN if unit == "sentence" else unit)
    sentences: list[Sentence] = []
    for part in by_blank_lines(block.lines, block.path):
        sentence = Sentence(part, sentences[-1].stop if sentences else 0, brackets)
        if sentence.rows:
            sentences.append(sentence)
    rows = [row for sentence in sentences for row in sentence.rows]
    if not rows:
        return None
    is_tree = any(row.head != "_" for row in rows)
    return Document(
        words=[row.form for row in rows],
        name=dict(map(_key_and_value, block.lines)).get(identity) or block.name,
        spaces=[space for sentence in sentences for space in sentence.spaces],
        tags=_layer([row.tag for row in rows]),
        fine_tags=_layer([row.fine_tag for row in rows]),
        parents=[parent for sentence in sentences for parent in sentence.parents()] if is_tree else None,
        relations=_layer([row.relation for row in rows]),
        sentences=[(sentence.first, sentence.stop) for sentence in sentences],
        mentions=brackets.mentions() or ([] if coreference else None),
        multiwords=[multiword for sentence in sentences for multiword in sentence.multiwords] or None,
    )


def _layer(column: list[str]) -> list[str] | None:
    """A column in which nothing is filled in is no layer."""
    return None if all(value == "_" for value in column) else column


def _key_and_value(line: Line) -> tuple[str, str]:
    """
    >>> _key_and_value(Line(1, "# sent_id = weblog-7"))
    ('sent_id', 'weblog-7')
    """
    key, _, value = line.text[1:].partition("=") if line.text.startswith("#") else ("", "", "")
    return key.strip(), value.strip()
