"""Reports to look at: runs made by hand with whatever is odd in them, and the demo's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from headscope.heads.exemplars import COLUMNS
from headscope.report import write_report
from tests.report.samples import made_run, per_head

BAD = "<script>alert(1)</script>"
ODD = [BAD, "a&b\"c'", "مرحبا", "שלום", "👩‍👩‍👧 \u202e", "<img src=x onerror=alert(2)>"]
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><rect width="90" height="60" fill="#0072b2"/>'
    "<script>alert(3)</script></svg>"
)


def demo_run(folder: Path) -> Path:
    """MiniLM on the demo's text, as `headscope demo` counts it."""
    from headscope.demo.demo import count
    from headscope.demo.model import PACKAGE, open_model, packaged_folder
    from headscope.demo.text import corpus_in

    if packaged_folder() is None:
        pytest.skip(f"the package {PACKAGE} is not installed")
    with open_model() as lens:
        count(lens, corpus_in(folder.parent), folder)
    write_report(folder)
    return folder


def odd_run(folder: Path) -> Path:
    """Two layers of three heads, with odd texts, a figure that would run a script, and a table that is too long."""
    texts = [
        [*("encoder", "self", place // 3, place % 3), 1, 0.5, odd, "was", f"{odd} was here", "", *spans, odd]
        for place, odd in enumerate(ODD)
        for spans in [(0, len(odd), len(odd) + 1, len(odd) + 4)]
    ]
    made_run(
        folder,
        entropy=per_head([0.5, 1.0, 1.5, 2.0, 2.5, 0.0], heads=3),
        distance=per_head([1, 2, 3, 4, 5, float("nan")], "distance", heads=3),
        exemplars_readable=pd.DataFrame(texts, columns=COLUMNS),
        long=pd.DataFrame({"place": np.arange(2500), "text": [f'{BAD}, "{place}"' for place in range(2500)]}),
    )
    (folder / "figures").mkdir()
    (folder / "figures" / "drawn.svg").write_text(SVG)
    write_report(folder)
    return folder


def beside(plain: Path) -> Path:
    """The report on that run and another one, of the same heads with other numbers."""
    other = made_run(
        plain.parent / "other",
        entropy=per_head([1.5, 1.0, 0.5, 2.0, 0.5, 1.0], heads=3),
        distance=per_head([6, 5, 4, 3, 2, 1], "distance", heads=3),
    )
    return write_report(plain, other, out=plain.parent / "two.html")
