"""Views: what every head looks at, as a page that needs nothing else and as a figure for print."""

from headscope.views.content import Attention, Content, Neurons, Side
from headscope.views.picture import picture_of
from headscope.views.show import view_of
from headscope.views.state import State
from headscope.views.view import View

__all__ = ["Attention", "Content", "Neurons", "Side", "State", "View", "picture_of", "view_of"]
