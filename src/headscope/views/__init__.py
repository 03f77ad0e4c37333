"""Views: what every head looks at, as a page that needs nothing else and as a figure for print."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.views.content import Attention, Content, Neurons, Side
    from headscope.views.picture import picture_of
    from headscope.views.show import view_of
    from headscope.views.state import State
    from headscope.views.view import View

__all__ = ["Attention", "Content", "Neurons", "Side", "State", "View", "picture_of", "view_of"]

if not TYPE_CHECKING:
    __getattr__ = doors(
        __name__,
        {
            "content": "Attention Content Neurons Side",
            "picture": "picture_of",
            "show": "view_of",
            "state": "State",
            "view": "View",
        },
    )
