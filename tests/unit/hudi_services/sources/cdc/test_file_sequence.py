"""Documents of a server: each number is put once, the newest comes back."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.storage import open_storage
from hudi_services.sources.cdc.file_sequence import FileSequence


def test_documents_follow_each_other_and_no_number_is_put_twice(tmp_path):
    files = FileSequence(open_storage(str(tmp_path)), "shop", "plans", 2, "plan")
    assert files.latest() is None
    for number in (1, 2, 3):
        files.put(number, {"n": number, "text": "ä"})
    assert files.latest() == (3, {"n": 3, "text": "ä"})
    assert sorted(path.name for path in (tmp_path / "shop" / "plans").iterdir()) == [
        "0000000002.json",
        "0000000003.json",
    ]
    with pytest.raises(PendingInstantError, match="Another process follows the server shop"):
        files.put(3, {"n": 4})
    (tmp_path / "shop" / "plans" / "0000000004.json").write_text("[")
    with pytest.raises(CorruptTableError, match=r"The plan shop/plans/0000000004\.json"):
        files.latest()
