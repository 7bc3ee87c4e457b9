"""The way to Airflow's login: a copied link to a page leads a user who is signed out there, and then to the page."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler

from hoodie_airflow.pages.responses import HEADERS

_INVALID = "Invalid JWT token"  # what Airflow answers, with 403, to the token of another secret
# Browsers keep what follows `#` over a redirect, and send it to no server: this page of the link has to be read here.
_SCRIPT = (
    'location.replace("../api/v2/auth/login?next=" + encodeURIComponent(new URL("./", location).href + location.hash));'
)
_PAGE = f"""<!doctype html><meta charset="utf-8"><title>Sign in</title>
<p><a href="../api/v2/auth/login">Sign in to Airflow</a></p><script>{_SCRIPT}</script>"""
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_HEADERS = {
    **HEADERS,
    "Content-Security-Policy": f"default-src 'none'; script-src 'sha256-{_HASH}'; frame-ancestors 'self'",
    "Cache-Control": "no-store",
}


def add_login(app: FastAPI) -> None:
    """Redirect browsers that ask for the page without a valid login. Scripts get the status and JSON."""
    app.add_route("/login", _login)  # a route of Starlette, so the application's dependencies do not ask for access
    app.add_exception_handler(HTTPException, _answered)


async def _login(_request: Request) -> Response:
    return Response(_PAGE, media_type="text/html", headers=_HEADERS)


async def _answered(request: Request, error: Any) -> Response:
    signed_out = error.status_code == 401 or (error.status_code, error.detail) == (403, _INVALID)
    if signed_out and request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return Response(
            status_code=307, headers={**_HEADERS, "Location": f"{request.scope.get('root_path', '')}/login"}
        )
    return await http_exception_handler(request, error)
