"""Properties of a table that do not go together."""

from __future__ import annotations

_VIRTUAL_KEYS = {
    "COPY_ON_WRITE": ("SIMPLE", "COMPLEX", "CUSTOM", "TIMESTAMP", "NON_PARTITION"),
    "MERGE_ON_READ": ("SIMPLE",),
}


def virtual_keys_flaw(table_type: str, keygen: str, record_keys: tuple[str, ...]) -> str | None:
    """Return what does not go with virtual keys; None when they can be used."""
    if not record_keys:
        return "generated record keys, which no column of a row holds"
    if keygen not in _VIRTUAL_KEYS[table_type]:
        return f"the {keygen} key generator; a {table_type} table takes {', '.join(_VIRTUAL_KEYS[table_type])}"
    return None


def cdc_flaw(version: int, *, virtual_keys: bool) -> str | None:
    """Return why the changes of such a table cannot be logged; None when they can."""
    if version < 8:
        return f"table version {version}; logs of changes are written from version 8 on"
    return "virtual keys; a log of changes has the keys of rows" if virtual_keys else None


def slash_dates_flaw(keygen: str, *, hive_style: bool, encoded: bool) -> str | None:
    """Return what does not go with days as nested folders, because Hudi's own operations differ; None when all does."""
    if keygen != "SIMPLE":
        return f"the {keygen} key generator; only SIMPLE has one plain column"
    if hive_style or encoded:
        return "names of columns, or url-encoded values, in the folders"
    return None
