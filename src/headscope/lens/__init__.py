"""One unmodified Hugging Face model, watched: from documents to blocks of attention."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.lens.block import AttentionBlock
    from headscope.lens.head import Head
    from headscope.lens.head_means import HeadMeans
    from headscope.lens.lens import Lens
    from headscope.lens.neurons import Neurons
    from headscope.lens.reading import Reading
    from headscope.lens.score_block import ScoreBlock
    from headscope.lens.site import Site
    from headscope.lens.source import ModelSource, open
    from headscope.lens.tokens.encoder import AS_WRITTEN, BY_WORD
    from headscope.lens.tokens.prompts import Prompt

__all__ = [
    "AS_WRITTEN", "BY_WORD", "AttentionBlock", "Head", "HeadMeans", "Lens", "ModelSource", "Neurons", "Prompt",
    "Reading", "ScoreBlock", "Site", "open",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = doors(
        __name__,
        {
            "block": "AttentionBlock",
            "head": "Head",
            "head_means": "HeadMeans",
            "lens": "Lens",
            "neurons": "Neurons",
            "reading": "Reading",
            "score_block": "ScoreBlock",
            "site": "Site",
            "source": "ModelSource open",
            "tokens.encoder": "AS_WRITTEN BY_WORD",
            "tokens.prompts": "Prompt",
        },
    )
