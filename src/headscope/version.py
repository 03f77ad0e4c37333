"""The version of headscope: what a manifest, a page and `headscope --version` say."""

__version__ = "0.1.0"
