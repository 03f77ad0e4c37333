"""What does BERT look at? (Clark, Khandelwal, Levy and Manning, 2019): every table and figure, for any model."""

from headscope.papers.clark2019.paper import Clark2019, Data, Settings

run = Clark2019.run

__all__ = ["Clark2019", "Data", "Settings", "run"]
