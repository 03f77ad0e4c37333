"""What it costs to start: seconds of CPU of commands in fresh processes, and of `import headscope`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import headscope
from benchmarks.rows import Row, Target
from benchmarks.settings import Settings
from headscope.children import end_with_parent
from headscope.demo.model import open_model

TORCH = "import torch"


def start_cost(settings: Settings) -> list[Row]:
    """Seconds of CPU from the first keystroke: help, a typo, a table of a run, `import headscope`; torch for comparison."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        with open_model() as lens:
            headscope.study(lens, ["The keys to the cabinet are on the table."], ["entropy"], out=run)
        programs = {
            "headscope --help": (_command("--help"), 0.5),
            "headscope study --rubbish": (_command("study", "--rubbish"), 0.5),
            "headscope table RUN entropy": (_command("table", str(run), "entropy"), 1.5),
            "import headscope": (["-c", "import headscope"], 0.3),
            TORCH: (["-c", TORCH], None),
        }
        seconds: dict[str, list[float]] = {name: [] for name in programs}
        for turn in range(settings.repeats + 1):
            for name, (arguments, _) in programs.items():
                taken = cpu_seconds(arguments)
                if turn:
                    seconds[name].append(taken)
    rows = []
    for name, (_, most) in programs.items():
        row = Row(name, seconds[name], "s")
        target = None if most is None else Target("<=", most)
        rows.append(Row(name, seconds[name], "s", row.median, "s", "of CPU", target))
    return rows


def cpu_seconds(arguments: list[str]) -> float:
    """Of a fresh Python, user and system; what it writes is thrown away. Bytecode is kept, as it is for users."""
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    command = [sys.executable, *arguments]
    subprocess.run(command, capture_output=True, env=surroundings, check=False, preexec_fn=end_with_parent)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _command(*arguments: str) -> list[str]:
    return ["-m", "headscope", *arguments]
