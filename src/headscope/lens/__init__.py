"""One unmodified Hugging Face model, watched: from documents to blocks of attention."""

from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.neurons import Neurons
from headscope.lens.reading import Reading
from headscope.lens.score_block import ScoreBlock
from headscope.lens.site import Site
from headscope.lens.source import ModelSource, open

__all__ = ["AttentionBlock", "Lens", "ModelSource", "Neurons", "Reading", "ScoreBlock", "Site", "open"]
