"""The list of mutants fits the code, so that `make mutants` runs all of them."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tests.mutants import ROOT, UNIT, Mutant, MutantError, load

MUTANTS = load()
AREAS = {
    "view", "merge", "transaction", "services", "write", "index", "formats", "timeline", "sql", "ingest", "watch", "pages",
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_changes_its_file_to_another_that_compiles(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    changed = mutant.applied(text)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))


def test_a_text_that_occurs_twice_is_refused() -> None:
    mutant = MUTANTS[0]
    with pytest.raises(MutantError, match=f"mutant {mutant.id}: its `before` occurs 2 times in {mutant.file}"):
        mutant.applied(mutant.before * 2)


def test_there_are_mutants_of_each_area() -> None:
    areas = Counter(mutant.area for mutant in MUTANTS)
    assert areas.keys() == AREAS
    assert areas.total() >= 60


def test_each_mutant_has_a_name_of_its_own_and_tests_that_exist() -> None:
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    assert [name for mutant in MUTANTS for name in mutant.tests if not (ROOT / UNIT / name).exists()] == []
    assert all(mutant.loss and mutant.tests for mutant in MUTANTS)
