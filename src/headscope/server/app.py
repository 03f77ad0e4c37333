"""The application: the page, and the HTTP interface that the page itself uses, described at /api/openapi.json."""

import gzip
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from headscope.errors import HeadscopeError
from headscope.lens import Lens
from headscope.lens.predicted import Predicted
from headscope.report.schema import Report
from headscope.server import predicting, reading
from headscope.server.answer_cache import AnswerCache
from headscope.server.difference import read_difference
from headscope.server.guard import HEADERS, Guard
from headscope.server.models import describe, lens_of, measures_of
from headscope.server.queue import Abandoned, Check, Queue, Result
from headscope.server.refusal import Refusal
from headscope.server.schemas import (
    DifferenceRequest,
    ExemplarsAnswer,
    Failure,
    Kind,
    ModelInfo,
    PredictRequest,
    ReadAnswer,
    ReadRequest,
    RunAnswer,
    Stack,
)
from headscope.server.served_run import ServedRun
from headscope.server.settings import Settings
from headscope.version import __version__
from headscope.views.pack import Packed
from headscope.views.page import asset, page, policy

ABOUT = """What every attention head of a Transformer does, read live.

Every error is `{"error": "one sentence"}`. One model runs at a time; who comes when the line is full gets 503 and a
`Retry-After`. A request whose connection is closed is dropped, or stopped where it is. Where the server has a token, send
it as `Authorization: Bearer TOKEN`."""
REFUSALS = {
    400: "The request cannot be understood",
    401: "The token is missing",
    403: "Another page asks",
    404: "There is no such thing",
    405: "This cannot be asked for in this way",
    408: "The rest of the request did not come",
    413: "The request is too large",
    421: "The server does not go by the name that was asked for",
    422: "The text or a choice does not fit the model, or is over a limit, which is said",
    503: "Too many requests are waiting",
}
REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": about} for status, about in REFUSALS.items()
}
_LEFT = 499  # nobody gets this answer
_Number = Annotated[int, InPath(ge=0, le=100_000)]


def make_app(models: Mapping[str, Lens], run: str | Path | None = None, *, settings: Settings | None = None) -> FastAPI:
    """The server's application for open models by name, and a run directory where there is one."""
    settings = settings or Settings()
    work = Queue(settings.max_waiting)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        work.close()

    app = FastAPI(
        title="headscope",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        responses=REFUSED,
        redirect_slashes=False,
    )
    app.state.queue = work
    app.add_middleware(Guard, settings=settings)
    offered = None if run is None else ServedRun(Path(run), models, settings)
    _explain_errors(app, _names(models, offered))
    _add_page(app, has_run=run is not None)
    _add_models(app, models, work, settings)
    _add_run(app, offered, work)
    _describe_choices(app, models)
    return app


def _add_page(app: FastAPI, *, has_run: bool) -> None:
    description = {"title": "headscope", "version": __version__, "run": has_run}
    written = page("live", "headscope", description, [], connect="'self'")
    allowed = policy(asset("headscope.js"), asset("headscope.css"), "'self'")
    headers = {"Content-Security-Policy": f"{allowed}; frame-ancestors 'none'"}

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204)  # browsers ask for one, and complain where there is none

    @app.get("/", include_in_schema=False)
    async def live_page() -> HTMLResponse:
        return HTMLResponse(written, headers=headers)


def _add_models(app: FastAPI, models: Mapping[str, Lens], work: Queue, settings: Settings) -> None:
    known = [describe(name, lens, settings.max_tokens) for name, lens in models.items()]
    kept, wholes = AnswerCache(settings.kept_bytes), predicting.KeptWholes()

    @app.get("/api/models")
    async def list_models() -> list[ModelInfo]:
        """The models that can be read, and what each takes."""
        return known

    async def answered(request: Request, key: str, make: Callable[[Check], Mapping[str, Any]]) -> Response:
        """What was made for this question before, or is made now; compressed by gzip."""
        answer = kept.get(key)
        if answer is None:
            answer = await _in_line(work, request, lambda check: reading.as_bytes(make(check)))
            kept.keep(key, answer)
        return await _compressed(request, answer)

    @app.post("/api/read", response_model=ReadAnswer)
    async def read(request: Request, asked: ReadRequest) -> Response:
        """Read a text: the scores of every head, as the page's views draw them. The answer is compressed by gzip."""
        lens = lens_of(models, asked.model)

        def make(check: Check) -> Mapping[str, Any]:
            return _parts(reading.read(lens, asked, settings.max_tokens, check))

        return await answered(request, f"read {asked.model_dump_json()}", make)

    @app.post("/api/difference", response_model=ReadAnswer)
    async def difference(request: Request, asked: DifferenceRequest) -> Response:
        """Read two texts, or one by two models: the scores of B less those of A, between the tokens of both."""
        lenses = lens_of(models, asked.a.model), lens_of(models, asked.b.model)

        def make(check: Check) -> Mapping[str, Any]:
            return _parts(read_difference(lenses, (asked.a, asked.b), settings.max_tokens, check))

        return await answered(request, f"difference {asked.model_dump_json()}", make)

    @app.post("/api/predict", response_model=Predicted)
    async def predict(request: Request, asked: PredictRequest) -> Response:
        """What the model predicts from a text: the next token, masked ones, a translation; or how alike two texts are."""
        lens = lens_of(models, asked.model)

        def make(check: Check) -> Mapping[str, Any]:
            return asdict(predicting.predicted(lens, asked, settings, check, wholes))

        return await answered(request, f"predict {asked.model_dump_json()}", make)


def _parts(packed: Packed) -> Mapping[str, Any]:
    return {"description": packed.description, "chunks": packed.chunks}


def _add_run(app: FastAPI, run: ServedRun | None, work: Queue) -> None:
    def offered() -> ServedRun:
        if run is None:
            raise Refusal(404, "This server has no run to show: start it with --run RUN.")
        return run

    @app.get("/api/run")
    async def describe_run() -> RunAnswer:
        """What the run is: its model, corpus, tables, and its numbers for every head."""
        return await run_in_threadpool(offered().describe)

    @app.get("/api/run/report", response_model=Report)
    async def report(request: Request) -> Response:
        """What the page of the run's report carries. The answer is compressed by gzip."""
        return await _compressed(request, await run_in_threadpool(offered().report))

    @app.get("/api/heads/{stack}/{kind}/{layer}/{head}/exemplars")
    async def exemplars(
        request: Request,
        stack: Stack,
        kind: Kind,
        layer: _Number,
        head: _Number,
        measure: Annotated[str, Query(max_length=100, description="By which measure a text excites a head.")] = "weight",
    ) -> ExemplarsAnswer:
        """Texts of the run's corpus that excite a head: of all, where the run has counted them; else of the first ones."""
        one = offered()
        return await _in_line(work, request, lambda check: one.exemplars(stack, kind, layer, head, measure, check))


async def _compressed(request: Request, answer: bytes) -> Response:
    headers = {"Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(await run_in_threadpool(gzip.decompress, answer), 200, headers, "application/json")
    return Response(answer, 200, {**headers, "Content-Encoding": "gzip"}, "application/json")


def _describe_choices(app: FastAPI, models: Mapping[str, Lens]) -> None:
    """Say in the description which models and measures there are to choose from here."""
    schemas = app.openapi()["components"]["schemas"]  # made once, and kept by the application
    for request in ("ReadRequest", "PredictRequest"):
        schemas[request]["properties"]["model"]["enum"] = list(models)
    (measures,) = (one for one in schemas["ReadRequest"]["properties"]["measures"]["anyOf"] if one["type"] == "array")
    measures["items"]["enum"] = list(dict.fromkeys(name for lens in models.values() for name in measures_of(lens)))


async def _in_line(work: Queue, request: Request, make: Callable[[Check], Result]) -> Result:
    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return await work.run(make, left)


def _names(models: Mapping[str, Lens], run: ServedRun | None) -> dict[str, str]:
    """What is said in the place of a path: a model's name here, or the path's end. The longest come first."""
    names = {path: Path(path).name for path in (run.paths() if run is not None else [])}
    names |= {lens.source.model: name for name, lens in models.items()}
    return {path: names[path] for path in sorted(names, key=len, reverse=True) if Path(path).name != path}


def _explain_errors(app: FastAPI, names: Mapping[str, str]) -> None:
    """Every error is a sentence, and none is a traceback, or says where things are on this machine."""

    def said(request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
        for path, name in names.items():
            sentence = sentence.replace(path, name)
        return Refusal(status, sentence, headers).response(request.headers)

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        return said(request, error.status, error.sentence, error.headers)

    @app.exception_handler(HeadscopeError)
    async def unfit(request: Request, error: HeadscopeError) -> Response:
        return said(request, 422, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])[:100]
        return Refusal(422, f"The request is wrong{f' at {where}' if where else ''}: {first['msg']}.").response(
            request.headers
        )

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        sentence = {404: "There is nothing at this address: the page is at /, what it asks at /api/openapi.json."}
        said = sentence.get(error.status_code, f"{error.detail}.")
        return Refusal(error.status_code, said, error.headers).response(request.headers)

    @app.exception_handler(Abandoned)
    async def abandoned(request: Request, error: Abandoned) -> Response:
        return Response(status_code=_LEFT)

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        sentence = "Something broke inside headscope: what it was is in the window where headscope serve runs."
        return Refusal(500, sentence, HEADERS).response(request.headers)  # this answer is made outside the guard
