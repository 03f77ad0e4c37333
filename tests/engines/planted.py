"""Statistics that take their time, fail, or kill who counts them: what happens then is what the tests of faults ask."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from headscope.statistics import Entropy

BAD = "unbelievable"  # a word of the documents that cannot be counted


@dataclass
class Slowly(Entropy):
    """So that there is time to kill someone."""

    def update(self, block):
        if block.site.layer == 0:
            time.sleep(0.15)
        super().update(block)


@dataclass
class Failing(Entropy):
    """A mistake of ours, at some documents: no sentence for users."""

    def update(self, block):
        if any(BAD in document.text for document in block.batch.documents):
            self.meet()
        super().update(block)

    def meet(self):
        raise ZeroDivisionError("division by zero")


@dataclass
class Deadly(Failing):
    """As if the memory were full each time."""

    def meet(self):
        os.kill(os.getpid(), signal.SIGKILL)
