"""The version of headscope: what a manifest, a page and `headscope --version` say."""

__version__ = "0.2.0"

LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "pandas", "scipy", "scikit-learn", "matplotlib")
EXTRAS = ("gguf", "accelerate", "spacy", "ray", "fastapi", "peft", "torchao", "bitsandbytes", "sentence-transformers")


def installed() -> dict[str, object]:
    """What somebody who looks into a fault asks first; nothing is imported for it, and no path is told."""
    import os
    import platform
    from importlib.metadata import PackageNotFoundError, version

    def found(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    return {
        "headscope": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "libraries": {name: found(name) for name in LIBRARIES},
        "extras": {name: found(name) for name in EXTRAS},
    }
