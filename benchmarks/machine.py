"""What a number was measured on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import headscope


def machine_facts() -> dict[str, Any]:
    """Processor, threads, how busy the machine is, and the versions that matter."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "headscope": headscope.__version__,  # of this tree: what is installed may say an older one
    }


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.exists() else []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()
