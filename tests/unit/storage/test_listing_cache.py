"""A storage of those who only look, and a folder of it that is a table's base path."""

from __future__ import annotations

import pytest

from hoodie.errors import UnsafePathError
from hoodie.storage import ListingCache, LocalStorage, closing_input, open_storage


@pytest.mark.parametrize("kind", ["local", "memory"])
def test_a_folder_is_seen_as_a_base_path(tmp_path, kind):
    storage = LocalStorage(str(tmp_path)) if kind == "local" else open_storage(f"memory://{tmp_path}")
    for path in ("in/a", "in/sub/b", "in/sub/more/c", "inner/d"):
        storage.create(path, path.encode())
    once = ListingCache(storage, "in")
    assert once.base_path == f"{storage.base_path}/in"
    assert [file.path for file in once.list("").files] == ["a"]
    assert once.list("").folders == ("sub",)
    assert [file.path for file in once.list("sub").files] == ["sub/b"]
    assert once.list("sub").folders == ("sub/more",)
    assert once.read("sub/b") == b"in/sub/b"
    with closing_input(once, "sub/more/c") as file:
        assert file.read() == b"in/sub/more/c"
    assert once.info("a").path == "a"
    assert once.info("nope") is None
    assert once.calls == 6
    for way in ("../inner/d", "/in/a"):
        with pytest.raises(UnsafePathError):
            once.read(way)
