"""A small valid file of every format, and how a test reads one."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow
import pyarrow.parquet

from headscope.text import Corpus, Document
from headscope.text.readers.lines import Line

CONLLU = """\
# newdoc id = d1
# sent_id = s1
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tV\t_\t0\troot\t_\tEntity=(e1)
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\tEntity=(e1-person-1)
2.1\t_\t_\t_\t_\t_\t_\t_\t1:conj\tEntity=(e7)
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\tS\t_\t5\tcase\t_\t_
4\tel\tel\tDET\tD\t_\t5\tdet\t_\tEntity=(e2-place-2
5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t5:obl|1:x\tSpaceAfter=No|Entity=e2)
6\t.\t.\tPUNCT\tF\t_\t1\tpunct\t_\t_

# newdoc id = d2
# sent_id = s2
1\tSí\tsí\tINTJ\tI\t_\t0\troot\t_\tSpaceAfter=No
2\t!\t!\tPUNCT\tF\t_\t1\tpunct\t_\t_

"""

COREFUD = """\
# global.Entity = eid-etype-head-other
# newdoc id = one
# sent_id = one-1
1\tAnn\t_\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1-)
2\tslept\t_\tVERB\t_\t_\t0\troot\t_\t_

# sent_id = one-2
1\tIt\t_\tPRON\t_\t_\t2\texpl\t_\t_
2\trained\t_\tVERB\t_\t_\t0\troot\t_\t_

# sent_id = one-3
1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1-)
2\twoke\t_\tVERB\t_\t_\t0\troot\t_\t_

# newdoc id = two
# sent_id = two-1
1\tRain\t_\tNOUN\t_\t_\t0\troot\t_\t_
"""

CONLL2012 = """\
#begin document (nw/a/00); part 000
nw/a/00   0   0   Ann    NNP   (TOP(S*   -   -   -   -   (PERSON)   *   (0)
nw/a/00   0   1   met    VBD   *         -   -   -   -   *          *   -
nw/a/00   0   2   her    PRP$  *         -   -   -   -   *          *   (3|(0)
nw/a/00   0   3   dog    NN    *))       -   -   -   -   *          *   3)

nw/a/00   0   0   Both   DT    (TOP*)    -   -   -   -   *   (5)|(6)
#end document
#begin document (nw/a/00); part 001
nw/a/00   1   0   Café   NN    (TOP*)    -   -   -   -   *   -
#end document
"""

LITBANK = (
    "MENTION\tT1\t0\t0\t0\t0\tAnn\tPER\tPROP\nMENTION\tT2\t1\t0\t1\t0\tShe\tPER\tPRON\nCOREF\tT1\tAnn-0\nCOREF\tT2\tAnn-0\n"
)
LITBANK_TEXT = "Ann met a café owner .\nShe smiled .\n"


def parquet_bytes(row_group_size: int = 2, **columns: list[object]) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), file, row_group_size=row_group_size)
    return file.getvalue()


LINES = "One line.\nAnother café.\nThe last\n\n"
PARAGRAPHS = "One paragraph\nof two lines.\n\n\nAnother café.\n"
ARTICLES = " = Title = \n\nOne\ntwo.\n\nAnother café.\n\n = = Part = = \n\nThird.\n\n = Title = \n\nLonely.\n"
ROWS = '{"text": "One row."}\n{"text": "Another café.", "label": [1, {"a": null}]}\n\n{"text": ["two", "words"]}\n'

SAMPLES: dict[str, bytes] = {
    "lines": LINES.encode(),
    "paragraphs": PARAGRAPHS.encode(),
    "paragraph-pairs": ARTICLES.encode(),
    "jsonl": ROWS.encode(),
    "parquet": parquet_bytes(text=["One row.", "Another café.", "The last."], label=[1, 2, 3]),
    "conllu": CONLLU.encode(),
    "conll2012": CONLL2012.encode(),
    "litbank": LITBANK.encode(),
}


def write_sample(folder: Path, format: str, content: bytes) -> Path:
    """A file of the format; LitBank's has its text beside it."""
    path = folder / "sample.ann"
    path.write_bytes(content)
    if format == "litbank":
        (folder / "sample.txt").write_text(LITBANK_TEXT, encoding="utf-8")
    return path


def read_skipping(path: Path, format: str) -> tuple[list[Document], Corpus]:
    corpus = Corpus.from_files(path, format=format, on_error="skip")
    return list(corpus), corpus


def numbered(text: str) -> list[Line]:
    return [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]
