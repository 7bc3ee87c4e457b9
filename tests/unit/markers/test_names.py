"""The contents of a marker, and texts that are no marker."""

from __future__ import annotations

import pytest

from hoodie.errors import UnsafePathError
from hoodie.markers import MarkerType
from hoodie.markers.names import batch_lines, batch_number, check_marker, fits_a_line, marker_name, noted_file

TIME = "20260101000000000"
BASE, LOG = f"p=1/a-0_0-1-2_{TIME}.parquet", f"p=1/.a-0_{TIME}.log.1_0-1-2"


@pytest.mark.parametrize("file", [BASE, LOG, BASE.removeprefix("p=1/"), f"q/ü \u2028/{BASE}"])
@pytest.mark.parametrize("kind", list(MarkerType))
def test_a_marker_notes_its_file(file, kind):
    marker = marker_name(file, kind)
    assert noted_file(marker) == file
    assert check_marker(marker) == marker


@pytest.mark.parametrize(
    "marker",
    [
        *("", BASE, f"{BASE}.marker.", f"{BASE}.marker.DELETE", f"{BASE}.marker.CREATE.crc", ".marker.CREATE"),
        *(
            f"/{BASE}.marker.CREATE",
            f"../{BASE}.marker.CREATE",
            f"p/../../{BASE}.marker.CREATE",
            f"p//{BASE}.marker.CREATE",
        ),
        *(f".hoodie/{BASE}.marker.CREATE", ".hoodie/hoodie.properties.marker.CREATE", f"./{BASE}.marker.CREATE"),
        *(f"{BASE}.marker.CREATE\nq/{BASE}.marker.CREATE", f"p\n/{BASE}.marker.CREATE", f"p\0/{BASE}.marker.CREATE"),
        *(f"\udcff/{BASE}.marker.CREATE", "p/notes.txt.marker.CREATE", "MARKERS0"),
    ],
)
def test_what_a_request_must_not_name(marker):
    with pytest.raises(UnsafePathError, match="is not a marker of a data file"):
        check_marker(marker)


def test_checksums_of_hudis_writers_are_no_markers():
    assert noted_file(f"p=1/.a-0_0-1-2_{TIME}.parquet.marker.CREATE.crc") is None


def test_lines_end_as_javas_do():
    assert batch_lines("a\u2028b\x0bc\n\r\nd\re\x85f".encode()) == ["a\u2028b\x0bc", "d", "e\x85f"]
    assert not fits_a_line("a\rb")
    assert fits_a_line("a\u2028b")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("MARKERS0", 0),
        ("MARKERS19", 19),
        ("MARKERS.type", None),
        (".MARKERS0.crc", None),
        ("MARKERS", None),
        ("xMARKERS1", None),
    ],
)
def test_files_of_markers_have_numbers(name, number):
    assert batch_number(name) == number
