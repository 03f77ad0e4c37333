"""The benchmarks by name. To add one: a small file with a function from settings to rows, and its name here."""

from collections.abc import Callable

from benchmarks.ablation_speed import ablation_memory, ablation_speed
from benchmarks.alignment_speed import alignment_memory, alignment_speed
from benchmarks.clark2019_speed import clark2019_speed
from benchmarks.divergence_speed import divergence_speed
from benchmarks.gated_speed import gated_speed
from benchmarks.host_waits import host_waits
from benchmarks.joint_norm_speed import joint_norm_speed
from benchmarks.kobayashi2020_command import kobayashi2020_command
from benchmarks.kobayashi2020_speed import kobayashi2020_speed
from benchmarks.large_study import large_study_memory
from benchmarks.lens_memory import lens_memory, long_text_memory
from benchmarks.lens_speed import lens_speed, lens_speed_padded, lens_speed_smollm2
from benchmarks.long_study import long_study, longest_study
from benchmarks.probe_cost import probe_speed
from benchmarks.ray_cost import ray_speed, state_sizes, thousand_workers
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.start_cost import start_cost
from benchmarks.study_cost import long_text_study_memory, study_memory, study_speed
from benchmarks.view_drawing import view_drawing
from benchmarks.view_memory import head_view_memory
from benchmarks.view_size import view_size
from benchmarks.vig2019_speed import vig2019_speed

Benchmark = Callable[[Settings], list[Row]]

START = (start_cost,)
LENS = (lens_speed, lens_speed_padded, lens_speed_smollm2, gated_speed, joint_norm_speed, lens_memory, long_text_memory)
STUDY = (divergence_speed, study_speed, host_waits, study_memory, long_text_study_memory, long_study)
ABLATION = (ablation_memory,)
PAPERS = (
    probe_speed,
    clark2019_speed,
    vig2019_speed,
    kobayashi2020_speed,
    kobayashi2020_command,
    alignment_speed,
    alignment_memory,
)
STATES = (state_sizes,)
VIEWS = (view_size, view_drawing, head_view_memory)
BENCHMARKS: dict[str, Benchmark] = {
    run.__name__: run for run in (*START, *LENS, *STUDY, *ABLATION, *PAPERS, *STATES, *VIEWS)
}
WHEN_NAMED: dict[str, Benchmark] = {
    run.__name__: run for run in (longest_study, ablation_speed, large_study_memory, ray_speed, thousand_workers)
}  # too long for a run of all: that is to take less than 20 minutes


def about(run: Benchmark) -> str:
    """The first line of a benchmark's docstring."""
    return (run.__doc__ or "").strip().split("\n")[0]
