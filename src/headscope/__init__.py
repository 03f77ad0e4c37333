"""headscope: what every attention head of a Transformer does, on one sentence and over a corpus."""

from headscope.errors import HeadscopeError
from headscope.lens import AttentionBlock, Lens, Neurons, Reading, Site, open
from headscope.measures import MEASURES
from headscope.statistics import STATISTICS
from headscope.study import Run, load_run, study
from headscope.text import Corpus, Document
from headscope.version import __version__
from headscope.views import View, head_view, matrix_view, model_view, neuron_view

__all__ = [
    "MEASURES",
    "STATISTICS",
    "AttentionBlock",
    "Corpus",
    "Document",
    "HeadscopeError",
    "Lens",
    "Neurons",
    "Reading",
    "Run",
    "Site",
    "View",
    "__version__",
    "head_view",
    "load_run",
    "matrix_view",
    "model_view",
    "neuron_view",
    "open",
    "study",
]
