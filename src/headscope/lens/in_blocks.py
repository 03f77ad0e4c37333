"""Models that attend in random blocks where a text is long, and fully where it is short: BigBird and its like.

Such a model turns itself into its full form when it meets a short text, and stays so. The lens reads that form, says which
texts are too long for it, and gives the model back in the form in which it came.
"""

from __future__ import annotations

from typing import Any

from headscope.errors import InputError
from headscope.later import PreTrainedModel, nn

IN_BLOCKS = "block_sparse"


class InBlocks:
    """The parts of a model that came in their block form, and the longest text that they read fully."""

    def __init__(self, model: nn.Module) -> None:
        self._parts: list[Any] = [
            part
            for part in model.modules()
            if isinstance(part, PreTrainedModel) and getattr(part, "attention_type", None) == IN_BLOCKS
        ]
        sizes = [(5 + 2 * part.config.num_random_blocks) * part.config.block_size for part in self._parts]
        self.longest = min(sizes, default=None)  # as the model itself has it

    def check(self, name: str, length: int) -> None:
        """Refuse a text that the model would read in another form by itself."""
        if self.longest is not None and length > self.longest:
            raise InputError(
                f"{name} attends in random blocks where a text has more than {self.longest} tokens, which is not read; this "
                f"one has {length}: give shorter texts, or a model whose configuration has attention_type original_full."
            )

    def give_back(self) -> None:
        for part in self._parts:
            part.set_attention_type(IN_BLOCKS)
