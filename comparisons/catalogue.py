"""The comparisons by name. To add one: a small file with a function from settings to a table, and its name here."""

from collections.abc import Callable

from benchmarks.settings import Settings

from comparisons.alignment import alignment
from comparisons.attention import decoder_attention, encoder_attention
from comparisons.attribution import attribution
from comparisons.table import Table
from comparisons.views import large_views, views

Comparison = Callable[[Settings], Table]
COMPARISONS: dict[str, Comparison] = {
    run.__name__: run for run in (encoder_attention, decoder_attention, attribution, views, large_views, alignment)
}
