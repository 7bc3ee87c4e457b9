"""Problems of a table that a look collects: one of them leaves the other facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hoodie.errors import HoodieError, StorageError

PROBLEMS = "problems"
"""The title of the part that lists what is wrong with the table."""


def guarded(problems: list[str], ask: Callable[[], Any]) -> Any:
    """The result of `ask`; None when it raises, which becomes a problem that is listed once. The error of a storage passes:
    it is no problem of the table."""
    try:
        return ask()
    except StorageError:
        raise
    except HoodieError as error:
        if str(error) not in problems:
            problems.append(str(error))
        return None
