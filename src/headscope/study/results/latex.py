r"""Text that LaTeX prints as it is, whatever a token is made of: pdfLaTeX, XeLaTeX and LuaLaTeX all compile it.

A table needs booktabs and, for the letters of Latin alphabets in pdfLaTeX, T1 fonts. What pdfLaTeX has no letters for (中,
an emoji) goes through a command that a table brings with it: pdfLaTeX prints the character's code, the others itself.
"""

import re
from collections.abc import Sequence

PACKAGES = r"Needs \usepackage{booktabs}, and with pdfLaTeX \usepackage[T1]{fontenc}."
OTHER = r"\unicodecharacter"
OTHERS = rf"\providecommand{{{OTHER}}}[2]{{\ifdefined\Umathcode#2\else\texttt{{U+#1}}\fi}}"

_WRITTEN = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "−": r"$-$",
    "–": "--",
    "‖": r"\textbardbl{}",
    "α": r"$\alpha$",
    "▁": r"\textvisiblespace{}",  # SentencePiece's space
}
# What pdfLaTeX knows with T1 fonts: Latin-1, Latin Extended-A but for eight letters, and signs of typesetting.
_KNOWN = {*map(chr, range(0xA0, 0x17F)), *"‘’‚“”„—…†‡•‰€™"} - set("ĦħĸĿŀŉŦŧ")
_LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")  # two of them would be printed as another sign
_MARKED = re.compile(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1")
_MARKS = {1: r"\textit{%s}", 2: r"\textbf{%s}", 3: r"\textbf{\textit{%s}}"}


def in_latex(text: str) -> str:
    r"""A text for LaTeX, on one line.

    >>> print(in_latex("nmod_poss 5 % </s> ▁the"))
    nmod\_poss 5 \% \textless{}/s\textgreater{} \textvisiblespace{}the
    >>> print(in_latex("--"), in_latex("Ġno"), in_latex("中"))
    -{}- Ġno \unicodecharacter{4E2D}{中}
    """
    apart = _LIGATURE.split(re.sub(r"\s", " ", text))
    return "{}".join("".join(map(_written, part)) for part in apart)


def cell_in_latex(text: str) -> str:
    r"""The same for a cell, in which Markdown's *marks* become LaTeX's, and a number has a minus and no hyphen.

    >>> print(cell_in_latex("-0.5"), cell_in_latex("it **saw** *her*"), cell_in_latex("rho*"))
    $-$0.5 it \textbf{saw} \textit{her} rho*
    """
    done, parts = 0, []
    for found in _MARKED.finditer(text):
        parts += [in_latex(text[done : found.start()]), _MARKS[len(found[1])] % in_latex(found[2])]
        done = found.end()
    return re.sub(r"^-(?=[\d.])", "$-$", "".join([*parts, in_latex(text[done:])]))


def row_in_latex(cells: Sequence[str]) -> str:
    r"""Cells that are in LaTeX already as a row. `\\` and booktabs' rules would take a [ or * that follows for their own.

    >>> print(row_in_latex(["[SEP]", "1"]))
    {}[SEP] & 1 \\
    """
    row = " & ".join(cells)
    return f"{'{}' if row.lstrip().startswith(('[', '*')) else ''}{row} \\\\"


def _written(character: str) -> str:
    if character in _WRITTEN:
        return _WRITTEN[character]
    if (character.isascii() and character.isprintable()) or character in _KNOWN:
        return character
    code = f"{ord(character):04X}"
    if character.isprintable() and character != "\ufffd":  # LuaLaTeX takes it for a fault of the file
        return f"{OTHER}{{{code}}}{{{character}}}"
    return rf"\texttt{{U+{code}}}"
