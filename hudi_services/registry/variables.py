"""Environment variables in paths: `${HUDI_LAKE}/flights`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{([^}]*)\}")

# The keys of a table's entry, beside those of its services, that hold a path.
PATH_KEYS = (
    ("base_path",),
    ("results",),
    ("history", "path"),
    ("history", "spool"),
    ("source", "path"),
    ("source", "quarantine", "path"),
)


def expand(text: str, environ: Mapping[str, str]) -> str:
    """`text` with each `${NAME}` replaced. Raises ValueError that names the variable that is not set."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if not environ.get(name):
            raise ValueError(f"the environment variable {name} is not set; it is needed for {text!r}")
        return environ[name]

    return _VARIABLE.sub(value, text)
