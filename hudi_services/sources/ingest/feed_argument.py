"""The feed in the command's arguments: as JSON, or as a file of the keys that `source` has in the registry."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from hoodie.errors import ConfigError
from hoodie.storage import open_storage
from hudi_services.entry.feed.model import Feed, contradictions
from hudi_services.entry.mistake_text import mistake_message
from hudi_services.entry.yaml_positions import Marked, read_marked

_FIX = "correct it as docs/how-to/load-files.md says"


def read_feed(argument: str | None, file_format: str) -> Feed:
    """The feed of JSON text, or of a YAML or JSON file at a path or URL, which may have an @ before it; without one the defaults.

    Raises ConfigError with all mistakes, or naming a file that cannot be read.
    """
    if argument is None:
        return Feed()
    text = argument.strip()
    where = "--feed" if text.startswith("{") else text.removeprefix("@")
    marked = _json(text) if text.startswith("{") else read_marked(_file(where))
    wrong = [
        f"{_place(where, marked, problem.path)}{'.'.join(map(str, problem.path))}: {problem.message}"
        for problem in marked.problems
    ]
    feed = Feed()
    if marked.data is not None:
        try:
            feed = Feed.model_validate(marked.data)
        except ValidationError as error:
            wrong += [
                f"{_place(where, marked, problem['loc'])}{'.'.join(map(str, problem['loc']))}: {mistake_message(problem, Feed)}"
                for problem in error.errors()
            ]
    wrong += [
        f"{_place(where, marked, path)}{'.'.join(path)}: {message}"
        for path, message in contradictions(feed, file_format)
    ]
    if wrong:
        raise ConfigError(f"The feed of {where} is not right", found="; ".join(wrong), fix=_FIX)
    return feed


def _place(where: str, marked: Marked, path: tuple[Any, ...]) -> str:
    return f"{where}:{marked.line(path)}: " if marked.lines else ""


def _json(text: str) -> Marked:
    try:
        return Marked(json.loads(text, object_pairs_hook=_once))
    except ValueError as error:
        raise ConfigError("The feed of --feed is no JSON", found=str(error), fix=_FIX) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise ValueError(f"{twice!r} is given twice")
    return result


def _file(address: str) -> str:
    folder, _, name = address.rpartition("/")
    try:
        return open_storage(folder or ("/" if address.startswith("/") else ".")).read(name).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The file {address} of --feed cannot be read",
            found=str(error) or type(error).__name__,
            fix="correct --feed: JSON text in braces, or a path or URL of YAML or JSON",
        ) from None
