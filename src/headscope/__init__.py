"""headscope: what every attention head of a Transformer does, on one sentence and over a corpus.

`headscope.open(model)` gives a Lens, `lens.read(text)` a Reading, `headscope.study(lens, corpus)` a Run;
`headscope.head_view` and its like draw a reading, `headscope.report` writes a page about a run. Write `import headscope`:
with `import *`, its `open` would take the place of Python's own.
"""

from typing import TYPE_CHECKING

from headscope.errors import HeadscopeError
from headscope.later import doors
from headscope.version import __version__

if TYPE_CHECKING:
    from headscope import engines, heads, papers
    from headscope.ablation import ablate
    from headscope.alignment import align
    from headscope.league import league
    from headscope.lens import AttentionBlock, Head, Lens, ModelSource, Neurons, Reading, Site, open
    from headscope.measures import MEASURES, measure
    from headscope.report import write_report as report
    from headscope.statistics import STATISTICS, Statistic, statistic
    from headscope.study import Run, compare, load_run, study
    from headscope.text import Corpus, Document
    from headscope.views import View
    from headscope.views.print import attention_map
    from headscope.views.show import difference_view, head_view, matrix_view, model_view, neuron_view
    from headscope.writing import Logits, Similarity, copying_scores, similarity

__all__ = [
    "MEASURES", "STATISTICS", "AttentionBlock", "Corpus", "Document", "Head", "HeadscopeError", "Lens", "Logits",
    "ModelSource", "Neurons", "Reading", "Run", "Similarity", "Site", "Statistic", "View", "__version__", "ablate",
    "align", "attention_map", "compare", "copying_scores", "difference_view", "engines", "head_view", "heads",
    "league", "load_run", "matrix_view", "measure", "model_view", "neuron_view", "open", "papers", "report", "similarity",
    "statistic", "study",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = doors(__name__, {
        "ablation": "ablate",
        "alignment": "align",
        "engines": "",
        "heads": "",
        "league": "league",
        "lens": "AttentionBlock Head Lens ModelSource Neurons Reading Site open",
        "measures": "MEASURES measure",
        "papers": "",
        "report": "report",
        "statistics": "STATISTICS Statistic statistic",
        "study": "Run compare load_run study",
        "text": "Corpus Document",
        "views": "View",
        "views.print": "attention_map",
        "views.show": "difference_view head_view matrix_view model_view neuron_view",
        "writing": "Logits Similarity copying_scores similarity",
    })  # fmt: skip
