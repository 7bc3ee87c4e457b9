"""Flags that choose a table, in commands that can be pasted."""

from __future__ import annotations

from hudi_services.entry.target import Target


def test_a_table_is_named_by_its_name_or_its_path():
    assert Target.of("/lake/a b", None).command("clean") == "hudi-services clean --target-base-path '/lake/a b'"
    assert Target.of("/lake/a", "a").command("clean") == "hudi-services clean --table a"
    assert Target.of("/lake/a", "a", "my.yaml").command("clean") == "hudi-services clean --table a --registry my.yaml"


def test_the_first_command_of_a_text_is_completed_with_the_table():
    target = Target.of("/lake/a", "a")
    assert (
        target.first_command("run `hudi-services clean`, or `hudi-services compact`") == "hudi-services clean --table a"
    )
    assert target.first_command("`hudi-services clean --table b`") == "hudi-services clean --table b"
    assert target.first_command("look at `.hoodie`") == ""
