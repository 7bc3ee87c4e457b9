"""Each worker of xdist rewrites its share of the test modules."""

from __future__ import annotations

import sys

from _pytest.assertion import rewrite

from tests.support.rewriting import rewrite_share


def _kept(folder):
    return sorted(file.name.partition(".")[0] for file in folder.rglob("*.pyc"))


def test_each_worker_has_its_share_once(tmp_path, monkeypatch, pytestconfig):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    for name in ("conftest", "helper", "test_a", "test_b", "test_c"):
        (tmp_path / "below").mkdir(exist_ok=True)
        (tmp_path / "below" / f"{name}.py").write_text("def test_it():\n    assert 1 == 2\n")
    rewrite_share(pytestconfig, [tmp_path], 0, 2)
    assert _kept(tmp_path) == ["test_a", "test_c"]
    rewrite_share(pytestconfig, [tmp_path], 1, 2)
    assert _kept(tmp_path) == ["test_a", "test_b", "test_c"]
    file = tmp_path / "below" / "test_b.py"
    kept = rewrite.get_cache_dir(file) / f"test_b{rewrite.PYC_TAIL}"
    assert rewrite._read_pyc(file, kept) is not None, "what pytest itself takes for the rewritten module"

    before = kept.stat().st_mtime_ns
    rewrite_share(pytestconfig, [tmp_path], 1, 2)
    assert kept.stat().st_mtime_ns == before


def test_nothing_is_kept_where_python_may_keep_nothing(tmp_path, monkeypatch, pytestconfig):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "test_a.py").write_text("assert True\n")
    rewrite_share(pytestconfig, [tmp_path], 0, 1)
    assert _kept(tmp_path) == []
