"""The plain-English check: each rule with a sentence that it finds and one that it leaves alone, and what may rise."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.words import baseline, commits
from tests.words.findings import Finding, files, findings
from tests.words.module_names import nouns

FOUND = {
    "told": "The run is told by an alert.",
    "anew": "The file is written anew.",
    "whoever": "The lock goes to whoever comes first.",
    "nobody": "Nobody holds the lock.",
    "else": "Use the lock, else the write fails.",
    "none": "A savepoint is none of these.",
    "by_then": "The writer is gone by then.",
    "so_many": "Execute at most so many plans.",
    "unasked": "The run deletes files unasked.",
    "meanwhile": "The writer meanwhile goes on.",
    "besides": "It writes logs besides.",
    "mend": "The doctor can mend this.",
    "stands": "The value stands in the footer.",
    "goes_by": "The order goes by the instant.",
    "opener": "Files are listed. Of these the later wins.",
    "long_sentence": "word " * 41 + "ends.",
    "semicolon": "One; two; three; four.",
}
ALLOWED = {
    "told": "A storyteller shows `told` and untold values.",
    "anew": "The file is written again.",
    "whoever": "The lock goes to the first writer.",
    "nobody": "No writer holds the lock.",
    "else": "Someone else holds it, or else the write fails. `if`, `else` and `elif`.",
    "none": "The value is None. There are none.",
    "by_then": "The writer is removed by the next then.",
    "so_many": "Wait so long as the lock is held. There are so many that it helps.",
    "unasked": "The run deletes files without approval.",
    "meanwhile": "The writer goes on.",
    "besides": "It writes logs beside the base file.",
    "mend": "We recommend an amended commit.",
    "stands": "DAG stands for a graph, and standalone is a word.",
    "goes_by": "The writer goes on.",
    "opener": "What does it write? Of course, a log. The files are listed, of which one is new.",
    "long_sentence": "word " * 35 + "ends. It goes on.",
    "semicolon": "One; two; `three;four;five`.",
}


@pytest.fixture
def rules_of(tmp_path: Path):
    """The rules that a file of this name and text breaks."""

    def rules(name: str, text: str) -> list[str]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return [finding.rule for finding in findings(name, tmp_path)]

    return rules


@pytest.mark.parametrize("rule", FOUND)
def test_a_rule_finds_its_sentence(rules_of, rule: str) -> None:
    assert rules_of("docs/page.md", FOUND[rule]) == [rule]


@pytest.mark.parametrize("rule", ALLOWED)
def test_a_rule_leaves_a_plain_sentence(rules_of, rule: str) -> None:
    assert rules_of("docs/page.md", ALLOWED[rule]) == []


def test_docs_are_read_without_code_and_generated_parts(rules_of) -> None:
    page = "# Title\n\n```sh\necho told\n```\n\n<!-- make table -->\nIt is told.\n<!-- end -->\n\n[a](told.md) `told` https://told.org/anew\n"
    assert rules_of("docs/page.md", page) == []


def test_a_table_and_a_heading_have_words_but_no_sentences(rules_of) -> None:
    assert rules_of("docs/page.md", "## What it is\n\n| What | told |\n|---|---|\n| `anew` | Of it |\n") == ["told"]


def test_a_how_to_page_says_you(rules_of) -> None:
    assert rules_of("docs/get-started/quickstart.md", "word " * 500 + ".") == ["long_sentence", "you", "you"]
    assert rules_of("docs/get-started/quickstart.md", "You read your table.") == []


def test_python_is_read_by_docstrings_comments_and_messages(rules_of) -> None:
    source = '''"""The told rows."""

anew = {"told": 1}  # written anew
raise DataError(
    f"{anew} is none "
    "of ours, "
    f"{anew}", fix="ask whoever wrote it"
)


def call():
    """Whether it ran.

    - Of two: the first.
    """
'''
    assert rules_of("dags/write.py", source) == ["told", "anew", "none", "whoever", "opener", "opener"]


def test_a_construction_is_found_across_lines(rules_of) -> None:
    assert rules_of("plugins/write.py", 'help = ("A table is"\n    " none of Hudi.")\n# it is\n# none\n') == [
        "none",
        "none",
    ]
    assert rules_of("docs/page.md", "The table is\nnone of Hudi's.\n") == ["none"]


def test_identifiers_code_and_bytes_do_not_count(rules_of) -> None:
    source = 'anew = b"it is told"\nprint(told, "told", f"{told} rows and {anew:>5}")\n"""A `told` value."""\n'
    assert rules_of("dags/write.py", source) == []


def test_literals_of_tests_are_data(rules_of) -> None:
    assert rules_of("tests/test_module.py", 'text = "it is told"  # anew\n') == ["anew"]


def test_pages_of_the_browser_are_read(rules_of) -> None:
    script = '// told\nconst told = /"/.exec(x) ? `${told} is told` : "What waits";\nh("a", { class: "told" });\n'
    assert rules_of("plugins/page.js", script) == ["told", "told", "opener"]
    assert rules_of("plugins/page.html", '<p class="told anew">It is told</p>') == ["told"]


def test_a_module_is_named_by_words_of_the_list(rules_of) -> None:
    assert rules_of("plugins/hoodie/write/told_commits.py", "") == ["module_name"]
    assert rules_of("plugins/hoodie/asked/__init__.py", "") == ["module_name"]
    assert rules_of("plugins/hoodie/write/commit_stream.py", "") == []
    assert rules_of("plugins/hoodie/timeline/__init__.py", "") == []
    assert rules_of("tests/unit/test_told.py", "") == []


BINDINGS = (
    "found = rows",
    "for each in rows: pass",
    "a = [told for told in rows]",
    "if (gone := rows): pass",
    "def write(*, wanted): pass",
    "a = lambda who: rows",
    "def _told(): pass",
    "async def begun(): pass",
    "class Asked: pass",
    "class Plan:\n    said: str",
    "self._met = rows",
    "import rows as mine",
    "try: pass\nexcept OSError as there: pass",
    "with rows as which: pass",
    "match rows:\n    case [1, *those]: pass",
    "match rows:\n    case {1: 2, **what}: pass",
    "match rows:\n    case int() as EACH: pass",
)


@pytest.mark.parametrize("source", BINDINGS)
def test_a_name_says_what_it_holds(rules_of, source: str) -> None:
    assert rules_of("plugins/hoodie/plan.py", source) == ["bound_name"]
    assert rules_of("tests/plan.py", source) == []


@pytest.mark.parametrize("root", ["benchmarks", "dags", "hudi_services", "plugins", "spark_apps"])
def test_all_code_but_tests_says_what_names_hold(rules_of, root: str) -> None:
    assert rules_of(f"{root}/plan.py", "found = rows") == ["bound_name"]


def test_a_name_of_another_module_may_be_used(rules_of) -> None:
    source = (
        "import each\nprint(error.what, found, ConfigError(title, found=value), foundation)\nneed_found = {'told': 1}"
    )
    assert rules_of("plugins/hoodie/plan.py", source) == []


def test_keys_of_documented_json_are_attributes(rules_of) -> None:
    assert rules_of("plugins/hoodie/errors.py", "self.what, self.found = title, value") == []
    assert rules_of("plugins/hoodie/errors.py", "self.told = title") == ["bound_name"]


def test_a_bound_name_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/plan.py").write_text("rows = 1\nfound = rows\n")
    (finding,) = findings("plugins/plan.py", tmp_path)
    assert str(finding).splitlines() == [
        'plugins/plan.py:2: bound_name: "found" is any value: name what it holds, such as base_files, result, requested',
        "    found = rows",
    ]


def test_each_word_of_the_list_has_a_meaning() -> None:
    assert all(nouns().values())
    assert "told" not in nouns()


def test_a_finding_names_line_text_and_advice(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("You read.\n\nIt is\nwritten anew.\n")
    (finding,) = findings("README.md", tmp_path)
    assert str(finding) == 'README.md:4: anew: for "anew" write "again"\n    written anew.'


def test_subjects_are_short_and_name_one_change() -> None:
    assert list(commits.faults("docs: describe locks")) == []
    assert [fault[:13] for fault in commits.faults("x" * 73)] == ["73 characters"]
    assert len(list(commits.faults("locks: add one; docs: describe it"))) == 1
    assert commits.subject_of("# a comment\n\nlocks: add one\n\nbody; text\n") == "locks: add one"


def test_the_baseline_is_read_as_written(tmp_path: Path) -> None:
    counts = Counter({("docs/a.md", "told"): 2, ("docs/a.md", "anew"): 1, ("b.py", "told"): 1, ("c.py", "told"): 0})
    baseline.write(counts, tmp_path / "baseline.toml")
    assert baseline.read(tmp_path / "baseline.toml") == +counts
    assert (tmp_path / "baseline.toml").read_text().splitlines()[1:] == [
        '"b.py" = { told = 1 }',
        '"docs/a.md" = { anew = 1, told = 2 }',
    ]


def test_a_new_file_and_a_higher_count_are_above_the_baseline() -> None:
    allowed = Counter({("a.md", "told"): 2, ("gone.md", "told"): 9})
    assert baseline.risen(Counter({("a.md", "told"): 2}), allowed) == {}
    assert baseline.risen(Counter({("a.md", "told"): 3, ("new.md", "told"): 1}), allowed) == {
        ("a.md", "told"): 1,
        ("new.md", "told"): 1,
    }


def test_every_kind_of_file_is_checked(tmp_path: Path) -> None:
    assert {Path(name).suffix for name in files()} == {".py", ".md", ".js", ".html"}
    assert {"README.md", "CONTRIBUTING.md", "docs/how-to/alerts.md"} <= set(files())
    assert "docs/reference/cli.md" not in files()
    (tmp_path / "README.md").write_text("Whoever reads this is told.\n")
    assert isinstance(findings("README.md", tmp_path)[0], Finding)
