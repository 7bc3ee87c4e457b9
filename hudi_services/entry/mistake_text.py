"""Messages about mistakes in a declaration, in the words of its author."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag

_TAG = re.compile("<[a-z]+>")


def place_of(problem: Any) -> tuple[Any, ...]:
    """The keys at which a problem is, without the tags of models that were chosen by their keys."""
    return tuple(step for step in problem["loc"] if not (isinstance(step, str) and _TAG.fullmatch(step)))


def mistake_message(problem: Any, model: type[BaseModel], *, secret: bool = False, data: Any = None) -> str:
    """A problem that pydantic found in what `model` describes; without what was found where that may be a secret. `data` shows
    sections without a value, below which a key may belong."""
    path = problem["loc"]
    if problem["type"] == "extra_forbidden":
        if (section := _section_of(str(path[-1]), model, path[:-1], data)) is not None:
            return f"is not an option here; indent it deeper than `{section}:`, which has no value, if it belongs there"
        return unknown(str(path[-1]), known_names(model, path[:-1]))
    if problem["type"] == "missing":
        return "is missing"
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return message
    result = "" if secret else f" (found {problem['input']!r})"
    return f"{message[:1].lower()}{message[1:]}{result}"


def unknown(name: str, known: tuple[str, ...]) -> str:
    """The message for an unknown key, with the closest known one."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"is not an option; did you mean {close[0]!r}?" if close else f"is not an option; known: {', '.join(known)}"


def _section_of(name: str, model: type[BaseModel], path: tuple[Any, ...], data: Any) -> str | None:
    """The key without a value, beside an unknown one at `path`, that may have this key below it; None if there is no such key."""
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    empty = [key for key, value in data.items() if value is None] if isinstance(data, dict) else []
    return next((key for key in empty if name in _names_in(_kind_at(model, (*path, key)))), None)


def _names_in(annotation: Any) -> Iterator[str]:
    """The options of all models in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from (field.alias or name for name, field in annotation.model_fields.items())
    elif get_origin(annotation) is not dict:
        for kind in get_args(annotation):
            yield from _names_in(kind)


def known_names(model: type[BaseModel], path: tuple[Any, ...]) -> tuple[str, ...]:
    """The options that a declaration described by `model` may have at `path`, for the closest name to a wrong one."""
    inner = _model_in(_kind_at(model, path))
    return tuple(field.alias or name for name, field in inner.model_fields.items()) if inner is not None else ()


def _kind_at(model: type[BaseModel], path: tuple[Any, ...]) -> Any:
    """The type of what `model` has at `path`."""
    kind: Any = model
    for step in path:
        if (tagged := _model_of_tag(kind, step)) is not None:
            kind = tagged
            continue
        inner = _model_in(kind)
        if inner is None:
            kind = _values_of(kind)
            continue
        fields = {field.alias or name: field.annotation for name, field in inner.model_fields.items()}
        kind = fields.get(str(step))
    return kind


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if get_origin(annotation) is dict:
        return None
    options = (annotation, *get_args(annotation))
    return next((kind for kind in options if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _model_of_tag(annotation: Any, step: Any) -> Any:
    """The model in a union that has this tag; None where `step` is a key."""
    for kind in get_args(annotation):
        if any(isinstance(part, Tag) and part.tag == step for part in getattr(kind, "__metadata__", ())):
            return get_args(kind)[0]
        if get_origin(kind) is Annotated and (result := _model_of_tag(kind, step)) is not None:
            return result
        if get_origin(kind) in (Union, UnionType) and (result := _model_of_tag(kind, step)) is not None:
            return result
    return None


def _values_of(annotation: Any) -> Any:
    return get_args(annotation)[1] if get_origin(annotation) is dict else None
