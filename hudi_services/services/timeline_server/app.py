"""The web server's side: who may ask, what a request looks like, and which answer an error is."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Depends, FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from hoodie.errors import (
    ArgumentError,
    HoodieError,
    PendingInstantError,
    TableNotFoundError,
    UnsafePathError,
    WriteConflictError,
    as_line,
)
from hoodie.markers.server import BEGIN_PATH, HEALTH_PATH, MARKERS_PATH, SECRET_HEADER
from hoodie.model.files import FileSlice
from hoodie.model.place import identity
from hoodie.model.time import Time
from hudi_services.runtime.query_parameters import refuse_others
from hudi_services.services.timeline_server.tables import ServedTable

_STATUS: Mapping[type[Exception], HTTPStatus] = {
    ArgumentError: HTTPStatus.BAD_REQUEST,
    WriteConflictError: HTTPStatus.CONFLICT,
    UnsafePathError: HTTPStatus.BAD_REQUEST,
    PendingInstantError: HTTPStatus.NOT_FOUND,
    TableNotFoundError: HTTPStatus.NOT_FOUND,
}
_LONGEST = 8192  # characters of a path


class InstantRequest(BaseModel):
    """An instant that is about to be written."""

    model_config = ConfigDict(extra="forbid")

    table: str = Field(max_length=_LONGEST)
    instant: str = Field(pattern="^[0-9]{14,17}$")


class MarkerRequest(InstantRequest):
    """A file that a task is about to write."""

    marker: str = Field(max_length=_LONGEST)


class Guarded:
    """Refuses requests without the secret: nothing of the request is read before."""

    def __init__(self, app: ASGIApp, secret: str) -> None:
        self._app = app
        self._expected = f"Bearer {secret}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            secret = dict(scope["headers"]).get(SECRET_HEADER.lower().encode(), b"")
            if not hmac.compare_digest(secret, self._expected):
                await PlainTextResponse("who asks must know the secret", HTTPStatus.UNAUTHORIZED)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def make_app(tables: Mapping[str, ServedTable], secret: str) -> ASGIApp:
    """The application that serves these tables, by their base paths."""
    app = FastAPI(dependencies=[Depends(refuse_others)], openapi_url=None)
    by_identity = {identity(base_path): served for base_path, served in tables.items()}

    def named(table: str) -> ServedTable:
        served_table = tables.get(table) or by_identity.get(identity(table))
        if served_table is None:
            raise TableNotFoundError(f"Table {table!r:.200} is not served here", found=", ".join(tables))
        return served_table

    @app.exception_handler(HoodieError)
    @app.exception_handler(OSError)
    def failed(_request: Request, error: Any) -> PlainTextResponse:
        kinds = (status for kind, status in _STATUS.items() if isinstance(error, kind))
        return PlainTextResponse(as_line(error), next(kinds, HTTPStatus.SERVICE_UNAVAILABLE))

    @app.get(HEALTH_PATH)
    def health() -> dict[str, Any]:
        return {"tables": sorted(tables)}

    @app.get("/v1/timeline")
    def timeline(table: str) -> dict[str, Any]:
        state = named(table).state()
        instants = [
            {"time": i.time, "action": i.action, "state": i.state.name, "completed": i.completion_time}
            for i in state.timeline
        ]
        return {"table": table, "version": state.properties.version, "instants": instants}

    @app.get("/v1/slices")
    def slices(table: str, partition: str | None = None) -> dict[str, Any]:
        return {"table": table, "slices": [_slice(file_slice) for file_slice in named(table).slices(partition)]}

    @app.post(BEGIN_PATH)
    def begin(request: InstantRequest) -> dict[str, Any]:
        named(request.table).begin(Time.of(request.instant))
        return {"begun": request.instant}

    @app.post(MARKERS_PATH)
    async def note(request: MarkerRequest) -> dict[str, Any]:
        answer = await run_in_threadpool(named(request.table).note, Time.of(request.instant), request.marker)
        await asyncio.wrap_future(answer)
        return {"noted": request.marker}

    return Guarded(app, secret)


def _slice(file_slice: FileSlice) -> dict[str, Any]:
    files = [file_slice.base_file, *file_slice.log_files]
    return {
        "partition": file_slice.group.partition,
        "file_id": file_slice.group.file_id,
        "instant": file_slice.base_instant,
        "files": [{"path": file.path, "bytes": file.info.size} for file in files if file is not None],
    }
