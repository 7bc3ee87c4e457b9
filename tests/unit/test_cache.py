"""Properties that are computed once for each object."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import pytest

from hoodie.cache import cached_property


@dataclass(frozen=True)
class Place:
    path: str
    together: Barrier

    @cached_property
    def files(self) -> list[str]:
        """Its files."""
        self.together.wait(30)
        return [self.path]


def test_threads_compute_it_for_different_objects_at_once():
    together = Barrier(2)
    places = [Place(path, together) for path in "ab"]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda place: place.files, places)) == [["a"], ["b"]]


def test_it_is_computed_once_for_each_object_and_after_an_error_again():
    calls = []

    class Lister:
        @cached_property
        def files(self):
            calls.append(self)
            if len(calls) == 1:
                raise OSError("away")
            return [len(calls)]

    lister, other = Lister(), Lister()
    with pytest.raises(OSError, match="away"):
        _ = lister.files
    assert (lister.files, lister.files, other.files) == ([2], [2], [3])
    assert Place.files.__doc__ == "Its files."
