"""The live page: models that were named at the start, read over HTTP, on this machine and by its owner only."""

from headscope.errors import MissingExtra

try:
    import fastapi as _fastapi
    import uvicorn as _uvicorn
except ImportError as error:
    raise MissingExtra("headscope serve", "server") from error

from headscope.server.app import make_app
from headscope.server.settings import Settings

__all__ = ["Settings", "make_app"]
del _fastapi, _uvicorn
