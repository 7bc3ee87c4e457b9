"""Environment variables in paths: `${HUDI_LAKE}/flights`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hoodie.config.sync_keys import BASE_PATH, JDBC_URL, METASTORE_URIS, PASSWORD, USERNAME

_VARIABLE = re.compile(r"\$\{([^}]*)\}")

# The keys of a table's entry that hold a path, an address or a secret.
PATH_KEYS = (
    ("base_path",),
    ("results",),
    ("source", "path"),
    ("source", "quarantine", "path"),
    ("bootstrap", "source_path"),
    *(("sync", "hoodie", key.name) for key in (BASE_PATH, JDBC_URL, METASTORE_URIS, USERNAME, PASSWORD)),
)


def expand(text: str, environ: Mapping[str, str]) -> str:
    """`text` with each `${NAME}` replaced. Raises ValueError that names the variable that is not set."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if not environ.get(name):
            raise ValueError(f"the environment variable {name} is not set; it is needed for {text!r}")
        return environ[name]

    return _VARIABLE.sub(value, text)


def same_place(path: str) -> str:
    """A form of a path in which two spellings of one place are equal."""
    scheme, mark, rest = path.rpartition("://")
    return scheme + mark + re.sub(r"/+", "/", rest).rstrip("/")
