"""One unmodified Hugging Face model, watched: from documents to blocks of attention."""

from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens, open
from headscope.lens.neurons import Neurons
from headscope.lens.reading import Reading
from headscope.lens.site import Site

__all__ = ["AttentionBlock", "Lens", "Neurons", "Reading", "Site", "open"]
