"""Where things are: this repository, its pages, and what lies beside it on machines that have it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SHARED = Path(os.environ.get("HEADSCOPE_SHARED", ROOT.parent / "shared"))
DATA = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data"))
PAPERS = SHARED / "papers"
