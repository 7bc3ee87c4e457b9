"""The time of an instant, which is its name (format notes, section 2.1)."""

from __future__ import annotations

from typing import Final

_SECONDS = 14  # digits of yyyyMMddHHmmss, to which later releases have added milliseconds
_FIXED = "0000"  # what the times of bootstraps begin with, which are not dates


class Time(str):
    """`yyyyMMddHHmmssSSS` in the table's time zone; an older one, of whole seconds, counts as the end of its second.

    A time is its text, by which it is equal to another and found in a dictionary, as names of files are made of it. If two texts
    are one moment the shorter is less: the order is total.

    Only times of whole seconds have this class while the program runs, and Python asks them first on whichever side of a
    comparison they are. The others stay plain text, which is in order as it is, as fast as any (decision 0025). So nothing
    may ask for the class; and text that was never a `Time` must not be compared with one.
    """

    __slots__ = ()

    @staticmethod
    def of(text: str) -> Time:
        """The time that `text` names."""
        if len(text) == _SECONDS and not text.startswith(_FIXED):
            return Time(text)
        return text  # type: ignore[return-value]  # plain text is in order

    def __lt__(self, other: str) -> bool:
        return _order(self) < _order(other)

    def __le__(self, other: str) -> bool:
        return _order(self) <= _order(other)

    def __gt__(self, other: str) -> bool:
        return _order(self) > _order(other)

    def __ge__(self, other: str) -> bool:
        return _order(self) >= _order(other)


def with_milliseconds(time: str) -> str:
    """The moment that a time stands for, as plain text."""
    return f"{time}999" if len(time) == _SECONDS and not time.startswith(_FIXED) else str(time)


def _order(time: str) -> tuple[str, int]:
    return with_milliseconds(time), len(time)


BEGINNING: Final = Time.of("")
"""Before every instant."""
