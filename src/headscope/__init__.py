"""headscope: what every attention head of a Transformer does, on one sentence and over a corpus."""

from headscope.errors import HeadscopeError
from headscope.lens import AttentionBlock, Lens, Reading, Site, open
from headscope.measures import MEASURES
from headscope.text import Document

__version__ = "0.1.0"
__all__ = ["MEASURES", "AttentionBlock", "Document", "HeadscopeError", "Lens", "Reading", "Site", "open"]
