"""Dates in the paths of files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hudi_services.sources.ingest.files.listing import DatePattern

_FORMS = (
    (re.compile(r"([A-Za-z_]+)=\d{4}-\d{2}-\d{2}"), "{0}=%Y-%m-%d"),
    (re.compile(r"([A-Za-z_]+)=(\d{4})/([A-Za-z_]+)=(\d{2})/([A-Za-z_]+)=(\d{2})"), "{0}=%Y/{2}=%m/{4}=%d"),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "%Y-%m-%d"),
    (re.compile(r"(?<!\d)\d{4}/\d{2}/\d{2}(?!\d)"), "%Y/%m/%d"),
    (re.compile(r"(?<!\d)\d{4}_\d{2}_\d{2}(?!\d)"), "%Y_%m_%d"),
    (re.compile(r"(?<!\d)(19|20)\d{6}(?!\d)"), "%Y%m%d"),
)


def date_pattern(paths: Sequence[str]) -> str | None:
    """The date pattern of all paths; None if some have no date."""
    for form, pattern in _FORMS:
        first = form.search(paths[0]) if paths else None
        if first is None:
            continue
        text = pattern.format(*first.groups())
        if all(map(DatePattern(text).find, paths)):
            return text
    return None
