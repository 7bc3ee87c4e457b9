"""Query parameters of requests: names that a route does not have are refused, and those that are given twice."""

from __future__ import annotations

from fastapi import HTTPException, Request
from fastapi.dependencies.utils import get_flat_dependant


def refuse_others(request: Request) -> None:
    """Dependency of an application. FastAPI would pass over a misspelt `as_of`, and answer for now.

    Raises HTTPException (400).
    """
    known = [field.alias for field in get_flat_dependant(request.scope["route"].dependant).query_params]
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known:
            known_names = f"known are {', '.join(known)}" if known else "there are none here"
            raise HTTPException(400, f"The query parameter {name[:100]!r} is not known: {known_names}.")
        if names.count(name) > 1:
            raise HTTPException(400, f"The query parameter {name!r} is given twice.")
