"""Tables for people and for papers: Markdown and LaTeX out of a DataFrame."""

from __future__ import annotations

from headscope.later import pd
from headscope.study.results.latex import OTHER, OTHERS, cell_in_latex, in_latex, row_in_latex


def markdown(frame: pd.DataFrame, digits: int = 3) -> str:
    """A table in Markdown; numbers stand on the right.

    >>> print(markdown(pd.DataFrame({"head": ["7-6"], "accuracy": [0.5]})))
    | head | accuracy |
    |:-----|---------:|
    | 7-6 | 0.5 |
    """
    names = [_in_markdown(str(name)) for name in frame.columns]
    rule = [
        "-" * (len(name) + 1) + ":" if right else ":" + "-" * (len(name) + 1)
        for name, right in zip(names, _on_the_right(frame), strict=True)
    ]
    lines = [f"| {' | '.join(names)} |", f"|{'|'.join(rule)}|"]
    lines += [f"| {' | '.join(_in_markdown(cell) for cell in row)} |" for row in _cells(frame, digits)]
    return "\n".join(lines)


def latex(frame: pd.DataFrame, digits: int = 3) -> str:
    r"""A tabular environment with the rules of booktabs.

    >>> print(latex(pd.DataFrame({"relation": ["nmod_poss"], "%": [80.5]})))
    \begin{tabular}{lr}
    \toprule
    relation & \% \\
    \midrule
    nmod\_poss & 80.5 \\
    \bottomrule
    \end{tabular}
    """
    form = "".join("r" if right else "l" for right in _on_the_right(frame))
    header = row_in_latex([in_latex(str(name)) for name in frame.columns])
    rows = [row_in_latex([cell_in_latex(cell) for cell in row]) for row in _cells(frame, digits)]
    lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", header, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*([OTHERS] if any(OTHER in line for line in lines) else []), *lines])


def cell(value: object, digits: int = 3) -> str:
    """A value as people read it: nothing for a missing one, `digits` significant digits for a fraction.

    >>> cell(0.12345), cell(float("nan")), cell(1234.5), cell(7)
    ('0.123', '', '1234', '7')
    """
    if value is None or value is pd.NA or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"
    return str(value)


def _cells(frame: pd.DataFrame, digits: int) -> list[list[str]]:
    return [[cell(value, digits) for value in row] for row in frame.itertuples(index=False)]


def _on_the_right(frame: pd.DataFrame) -> list[bool]:
    return [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]


def _in_markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
