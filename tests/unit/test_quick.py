"""`make quick` runs the tests that are nearest to what changed."""

from __future__ import annotations

import subprocess

import pytest

from tests.runner.quick import NEAREST, SAMPLE, changed_files, choose, imported_modules, importers, module_name

NEAR, FAR, OTHER = (f"tests/unit/{name}/test_it.py" for name in ("merge", "read", "sync"))
IMPORTERS = {"hoodie.merge.match": {"hoodie.read.logs", NEAR}, "hoodie.read.logs": {FAR}, "hoodie.sync.plan": {OTHER}}
TESTS = dict.fromkeys((NEAR, FAR, OTHER), "")


@pytest.fixture
def repository(tmp_path):
    """A repository of Git with one commit on main and a branch: it takes a command of Git."""

    def git(*arguments: str) -> None:
        names = ("-c", "user.name=it", "-c", "user.email=it@example.org")
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("kept.py", "committed.py", "staged.py", "open.py", "deleted.py"):
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "branch")
    return git


def test_files_of_commits_and_of_the_work_tree_count_as_changed(repository, tmp_path):
    (tmp_path / "committed.py").write_text("2\n")
    repository("commit", "-am", "second")
    for name in ("staged.py", "open.py", "new ö.py"):
        (tmp_path / name).write_text("2\n")
    (tmp_path / "deleted.py").unlink()
    repository("add", "staged.py")
    assert changed_files(tmp_path) == {"committed.py", "staged.py", "open.py", "new ö.py"}


def test_without_a_branch_main_the_work_tree_counts(repository, tmp_path):
    (tmp_path / "committed.py").write_text("2\n")
    repository("commit", "-am", "second")
    repository("branch", "-D", "main")
    (tmp_path / "open.py").write_text("2\n")
    assert changed_files(tmp_path) == {"open.py"}


def test_the_nearest_come_first_and_the_rest_is_a_sample():
    chosen = choose({"plugins/hoodie/merge/match.py"}, TESTS, IMPORTERS)
    assert (chosen.changed, chosen.nearest, chosen.sample) == ((), (NEAR, FAR), (OTHER,))


def test_the_test_file_of_a_changed_module_comes_first():
    own = "tests/unit/merge/test_match.py"
    chosen = choose(
        {"plugins/hoodie/merge/match.py"}, {**TESTS, own: ""}, {**IMPORTERS, "hoodie.read.logs": {FAR, own}}
    )
    assert chosen.nearest == (own, NEAR, FAR)


def test_changed_tests_always_run_also_those_that_start_programs():
    slow = "tests/unit/test_slow.py"
    chosen = choose({FAR, slow}, {**TESTS, slow: "pytestmark = pytest.mark.process\n"}, IMPORTERS)
    assert chosen.changed == (FAR, slow)
    assert set(chosen.sample) == {NEAR, OTHER}


def test_other_tests_that_start_programs_do_not_run():
    slow = {
        "tests/unit/test_slow.py": "pytestmark = pytest.mark.process\n",
        "tests/unit/hoodie_airflow/test_dags.py": "",
    }
    chosen = choose({"hudi_services/cli/program.py"}, {**TESTS, **slow}, {"hudi_services.cli.program": set(slow)})
    assert chosen.nearest == ()
    assert set(chosen.sample) == set(TESTS)


def test_many_near_tests_are_cut_to_those_of_the_changed_package():
    many = {f"tests/unit/sql/test_{number}.py": "" for number in range(200)}
    chosen = choose({"plugins/hoodie/merge/match.py"}, {**TESTS, **many}, {"hoodie.merge.match": {NEAR, *many}})
    assert len(chosen.nearest) == NEAREST
    assert chosen.nearest[0] == NEAR
    assert len(chosen.sample) == SAMPLE
    assert not set(chosen.nearest) & set(chosen.sample)


def test_a_page_and_a_fixture_file_have_tests_too():
    tests = {**TESTS, OTHER: "docs/how-to/alerts.md"}
    assert choose({"docs/how-to/alerts.md"}, tests, {}).nearest == (OTHER,)


def test_a_page_has_the_tests_that_read_all_pages():
    tests = {**TESTS, OTHER: 'PAGES = ROOT / "docs"'}
    assert choose({"docs/how-to/alerts.md"}, tests, {}).nearest == (OTHER,)
    assert choose({"docs/picture.svg"}, tests, {}).nearest == ()
    assert choose({"tests/unit/merge/conftest.py"}, tests, {}).nearest == (NEAR,)


def test_modules_of_files_and_of_imports():
    names = {
        "plugins/hoodie/__init__.py": "hoodie",
        "hudi_services/cli/program.py": "hudi_services.cli.program",
        "docs/make_api.py": None,
    }
    assert {file: module_name(file) for file in names} == names
    text = "import hoodie.clock\nfrom hoodie.merge import match\ndef f():\n    from hoodie.errors import HoodieError\n"
    modules = {"hoodie.clock", "hoodie.merge", "hoodie.merge.match", "hoodie.errors"}
    assert imported_modules(text, modules) == modules - {"hoodie.merge"}


def test_a_test_that_imports_a_module_is_near_it():
    graph = importers({NEAR: "from hoodie import merge\nfrom tests.runner.quick import choose\n"})
    assert NEAR in graph["tests.runner.quick"] & graph["hoodie.merge"]
    assert "hoodie.write.execute" in graph["hoodie.write.plan"]
