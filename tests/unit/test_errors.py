"""The hierarchy of errors: what each says of trying again, and its way through the text of another exception."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hoodie import errors
from hoodie.errors import HoodieError, SchemaConflictError, as_line, of_line, rollback_fix

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HoodieError)]
AGAIN = {
    "CatalogError",
    "EngineError",
    "LockHeldError",
    "LockLostError",
    "NotCommittedError",
    "PendingInstantError",
    "SourceUnavailableError",
    "StorageError",
    "StoreError",
    "StaleRowsError",
    "StaleSnapshotError",
    "EarlyConflictError",
    "WriteConflictError",
}


def test_who_may_succeed_by_itself():
    assert {kind.__name__ for kind in KINDS if kind.retryable} == AGAIN


@given(
    st.sampled_from(KINDS),
    st.text(),
    st.none() | st.text(),
    st.none() | st.text(),
    st.text(),
    st.sampled_from("\n \t}"),
)
def test_an_error_survives_being_told_inside_other_text(kind, what, found, fix, after, between):
    line = as_line(kind(what, found=found, fix=fix))
    assert "\n" not in line
    again = of_line(f"{line}{between}{after}")
    assert isinstance(again, HoodieError)
    assert (type(again), again.what, again.found, again.fix) == (kind, what, found, fix)


def test_an_error_of_the_storage_is_one_again():
    again = of_line(as_line(OSError(28, "No space left on device")))
    assert type(again) is OSError
    assert "No space left" in str(again)


def test_other_text_is_no_error():
    for text in ("", "{", "[]", "1", '{"error": 1}', '{"what": "x"}', "no JSON"):
        assert of_line(text) is None


def test_a_kind_that_is_not_known_here_is_an_error_all_the_same():
    line = as_line(SchemaConflictError("x", fix="y")).replace("SchemaConflictError", "NewerError")
    again = of_line(line)
    assert type(again) is HoodieError
    assert (again.what, again.fix) == ("x", "y")


def test_the_remedy_of_a_commit_has_no_word_that_a_user_has_to_replace():
    assert "INSTANT" not in rollback_fix("7")
    assert "`hudi-services savepoint list`" in rollback_fix("7"), "it has the instants"
