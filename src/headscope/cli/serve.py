"""`headscope serve [MODEL ...] [--run RUN]`: the live page, on this machine."""

from __future__ import annotations

import secrets
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from headscope.cli import options
from headscope.study import load_run


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL", help="Hub ids, folders or GGUF files, or NAME=PATH; default: the run's model, or the demo's."
        ),
    ] = None,
    run: Annotated[Path | None, typer.Option(help="A run directory: its report, and texts that excite a head.")] = None,
    means: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Means of heads, or a run of ablate, to take their place; NAME=FILE of several."),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; others can reach anything but 127.0.0.1.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.", metavar="N", min=0, max=65535)] = 8765,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = False,
    max_tokens: Annotated[int, typer.Option(help="The longest text that is read, in tokens.", metavar="N", min=1)] = 512,
    token: Annotated[
        str | None, typer.Option(help="Who asks must have it; made up where others can reach the server.")
    ] = None,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    device_map: options.DeviceMap = None,
    quantize: options.Quantize = None,
) -> None:
    """Type a text and see every head live (extra: server).

    In the browser, on this machine; `pip install 'headscope[server]'` brings what it takes.

    Examples:

      headscope serve bert-base-uncased

      headscope serve bert=bert-base-uncased fr-en=Helsinki-NLP/opus-mt-fr-en --open

      headscope serve --run run

      headscope serve gpt2 --means ablated
    """
    # The server's packages are an extra: without them, all other commands work, and this one says what to install.
    from headscope.server import Settings
    from headscope.server.models import close_models, give_means, open_models
    from headscope.server.serving import serve as serve_models
    from headscope.server.settings import is_loopback

    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    settings = Settings(host, port, token, max_tokens)
    if run is not None:
        load_run(run)  # says so at once if it is none
    opened = open_models(
        models or [],
        run,
        device=device,
        trust_remote_code=trust_remote_code,
        dtype=dtype,
        revision=revision,
        device_map=device_map,
        quantization=quantize,
    )

    def say(listening: Settings) -> None:
        typer.echo(f"Serving {', '.join(opened)} at {listening.address} (Ctrl-C ends it)")
        if open_browser:
            webbrowser.open(listening.address)

    try:
        give_means(opened, means or [])
        serve_models(opened, run, settings, say)
    finally:
        close_models(opened)
    typer.echo("Stopped.")
