"""Properties that are computed once for each object.

Those of `functools` hold a lock of the whole class while they compute, up to Python 3.11: threads that list different tables wait
for each other, and a storage far away answers one of them at a time. These hold none, as from Python 3.12 on. Two threads that
ask one object at once may both compute: a property has to give equal values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:
    T = TypeVar("T")

    class cached_property(Generic[T]):  # noqa: N801 - the name of functools
        """A property whose value is kept in the object's `__dict__`, which then hides the property."""

        def __init__(self, function: Callable[[Any], T]) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: object | None, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


__all__ = ["cached_property"]
