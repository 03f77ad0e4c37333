"""Views: what every head looks at, as a page that needs nothing else and as a figure for print."""

from headscope.views.content import Attention, Content, Neurons, Side
from headscope.views.show import head_view, matrix_view, model_view, neuron_view
from headscope.views.state import State
from headscope.views.view import View

__all__ = [
    "Attention",
    "Content",
    "Neurons",
    "Side",
    "State",
    "View",
    "head_view",
    "matrix_view",
    "model_view",
    "neuron_view",
]
