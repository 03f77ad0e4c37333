"""What does BERT look at? (Clark, Khandelwal, Levy and Manning, 2019): every table and figure, for any model."""

from headscope.papers.clark2019.run import Data, Settings, run

__all__ = ["Data", "Settings", "run"]
