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


def test_commands_of_a_text_stand_on_lines_of_their_own():
    target = Target.of("/lake/a", "a")
    move = "mkdir -p '/lake/a b' && mv /lake/x '/lake/a b/'"
    text = f"move it by `{move}`, then `hudi-services doctor --fix`. `hudi-services consumer reset c --to latest` loses changes"
    commands = target.commands(text)
    assert commands == (move, "hudi-services doctor --fix --table a")
    assert target.commands(f"{text}, {text}") == commands
    assert Target.in_words(target.with_commands(text), commands).startswith(
        "move it by `mv`, then `hudi-services doctor`. `hudi-services consumer reset c --to latest --table a`"
    )


def test_other_ways_are_told_apart():
    text = "run `hudi-services rollback`, then `hudi-services ingest`. Or, `hudi-services restore`"
    target = Target.of("/lake/a", "a")
    lines = list(target.command_lines(target.with_commands(text), ["sudo ls", *target.commands(text)]))
    flags = "--table a"
    assert lines == [
        "$ sudo ls",
        f"$ hudi-services rollback {flags}",
        f"$ hudi-services ingest {flags}",
        "or",
        f"$ hudi-services restore {flags}",
    ]


def test_a_load_of_a_table_without_an_entry_is_no_line_to_paste():
    text = "`hudi-services rollback`, then `hudi-services ingest --reload`"
    assert Target.of("/lake/a", "a").commands(text)[1:] == ("hudi-services ingest --reload --table a",)
    assert Target.of("/lake/a", None).commands(text) == ("hudi-services rollback --target-base-path /lake/a",)


def test_a_table_without_a_source_is_loaded_by_the_program_that_writes_it():
    overwrite = "`hudi-services ingest --reload --operation insert_overwrite`"
    text = f"`hudi-services rollback`, then `hudi-services ingest`. Or, {overwrite}"
    target = Target.of("/lake/a", "a", loads=False)
    assert target.commands(text) == ("hudi-services rollback --table a",)
    assert target.with_commands(text) == (
        "`hudi-services rollback --table a`, then a load by the program that writes it. Or, a load by the program that writes it "
        "(insert_overwrite)"
    )
