"""Plans and results of cleans: what is written comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.model.clean import CleanFile, CleanPlan, CleanResult
from hoodie.timeline.codecs.clean import decode_clean_plan, decode_clean_result, encode_clean_plan, encode_clean_result
from hoodie.transaction.guard import relative_path

NAMES = st.text(st.characters(blacklist_categories=["Cs"]), max_size=6)


@pytest.mark.parametrize("base", ["/lake/t", "s3://bucket/t", "file:/lake/t"])
def test_a_plan_holds_full_paths_and_comes_back_relative(base):
    name = "f-0_0-1-2_20240101000000000.parquet"
    log = ".f-0_20240101000000000.log.1_0-1-2"
    files = tuple(CleanFile(f"p/{each}", "p", "f-0", 0, "planned before") for each in (name, log))
    plan = CleanPlan("KEEP_LATEST_COMMITS", files, "20240102000000000", "commit", "20240103000000000", {"k": "v"})

    def relative(path):
        assert path.startswith(base)
        return relative_path(base, path)

    assert decode_clean_plan(encode_clean_plan(plan, base), "here", relative) == plan


def test_source_files_of_a_bootstrapped_table_are_none_of_its_own():
    file, source = (CleanFile(path, "p", "", 0, "planned before") for path in ("p/f.parquet", "s3://old/t/f.parquet"))
    plan = CleanPlan("KEEP_LATEST_COMMITS", (file,), None, None, "20240103000000000", sources=(source,))
    found = decode_clean_plan(encode_clean_plan(plan, "/lake/t"), "here", lambda path: relative_path("/lake/t", path))
    assert (found.files, found.sources) == ((file,), (source,))


def test_a_plan_may_have_nothing_but_its_watermark():
    plan = CleanPlan("KEEP_LATEST_FILE_VERSIONS", (), None, None, "20240103000000000")
    assert decode_clean_plan(encode_clean_plan(plan, "/t"), "here", str) == plan


@given(
    st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=3).map(tuple), max_size=3),
    st.lists(NAMES, min_size=1, max_size=2).map(tuple),
)
def test_the_result_of_a_clean(deleted, failed):
    failures = dict.fromkeys(list(deleted)[:1], failed)
    result = CleanResult("1", 5, "KEEP_LATEST_COMMITS" if deleted else "", "2", "3", deleted, failures, {"k": "v"})
    assert decode_clean_result(encode_clean_result(result), "here") == result
