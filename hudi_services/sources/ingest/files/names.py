"""Patterns of paths, which select files of a source folder."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hoodie.cache import cached_property


@dataclass(frozen=True)
class Names:
    """Paths below a folder that match one of `patterns`; without any, those with one of `endings`, in any case.

    `*` and `?` match any characters of one name, `[a-z]` one of them, `[!a-z]` any other one, `**` any folders. A pattern
    without a slash is that of the file's name in any folder; with one it is that of the whole path.
    """

    patterns: tuple[str, ...] = ()
    endings: tuple[str, ...] = ("",)

    def __contains__(self, path: str) -> bool:
        if not self.patterns:
            return path.lower().endswith(self.endings)
        return any(regex.fullmatch(path) for regex in self._regexes)

    @cached_property
    def _regexes(self) -> list[re.Pattern[str]]:
        return [
            re.compile(_regex(pattern if "/" in pattern else f"**/{pattern}"), re.DOTALL) for pattern in self.patterns
        ]


_PART = re.compile(
    r"(?P<folders>(?:(?<=/)|^)\*\*/)|(?P<all>\*\*)|(?P<some>\*)|(?P<one>\?)|\[(?P<not>[!^]?)(?P<set>\]?[^\]/]*)\]"
)


def _regex(pattern: str) -> str:
    result, at = [], 0
    for match in _PART.finditer(pattern):
        result.append(re.escape(pattern[at : match.start()]))
        at = match.end()
        if match["set"] is not None:
            inside = re.sub(r"([\\\[\]&~|^])", r"\\\1", match["set"])
            result.append(f"(?!/)[{'^' if match['not'] else ''}{inside}]")
        else:
            result.append({"folders": "(?:[^/]*/)*", "all": ".*", "some": "[^/]*", "one": "[^/]"}[str(match.lastgroup)])
    return "".join([*result, re.escape(pattern[at:])])
