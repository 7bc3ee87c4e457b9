"""Markers of every type, and of Hudi's writers, are read."""

from __future__ import annotations

from hoodie.markers import DirectMarkers, MarkerType, read_markers
from hoodie.model.time import Time
from hoodie.storage import LocalStorage

TIME = Time.of("20260101000000000")
FOLDER = f".hoodie/.temp/{TIME}"
FILE = f"p/{{}}-0_0-1-2_{TIME}.parquet"


def test_a_folder_may_hold_both_types(tmp_path):
    """Files of markers that a server wrote, and those of workers that could not reach it; each name is given once."""
    storage = LocalStorage(str(tmp_path))
    DirectMarkers(storage, TIME).create(FILE.format("a"), MarkerType.CREATE)
    DirectMarkers(storage, TIME).create(FILE.format("b"), MarkerType.CREATE)
    storage.create(f"{FOLDER}/MARKERS.type", b"TIMELINE_SERVER_BASED")
    storage.create(
        f"{FOLDER}/MARKERS0", f"{FILE.format('b')}.marker.CREATE\n{FILE.format('c')}.marker.MERGE\n".encode()
    )
    storage.create(f"{FOLDER}/MARKERS123456789", f"{FILE.format('d')}.marker.APPEND\n".encode())
    storage.create(f"{FOLDER}/MARKERS1", FILE.format("e").encode()[:-3])  # torn: its request was not answered
    assert read_markers(storage, TIME) == {FILE.format(name) for name in "abcd"}


def test_checksums_that_hudi_leaves_on_a_local_disk_note_nothing(tmp_path):
    """As found beside the markers of Hudi 1.2.0."""
    storage = LocalStorage(str(tmp_path))
    name = FILE.format("a").removeprefix("p/")
    storage.create(f"{FOLDER}/p/{name}.marker.CREATE", b"")
    storage.create(f"{FOLDER}/p/.{name}.marker.CREATE.crc", b"crc\0")
    storage.create(f"{FOLDER}/.MARKERS0.crc", b"crc\0")
    assert read_markers(storage, TIME) == {FILE.format("a")}


def test_nothing_was_noted(tmp_path):
    assert read_markers(LocalStorage(str(tmp_path)), TIME) == set()
