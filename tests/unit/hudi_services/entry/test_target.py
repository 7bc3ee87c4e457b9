"""Flags that choose a table, in commands that can be pasted."""

from __future__ import annotations

import subprocess

from hudi_services.entry.target import Target, shell_commands


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
        f"$ hudi-services rollback {flags} && \\",
        f"  hudi-services ingest {flags}",
        "or",
        f"$ hudi-services restore {flags}",
    ]


def test_a_pasted_way_stops_at_the_first_failure_and_its_prompts_get_the_terminal(tmp_path):
    """Pasted lines are what a shell reads while its first command runs: a prompt would take the next line for the answer."""
    (tmp_path / "sudo").write_text("#!/bin/sh\necho ran $1; read answer && test $answer = sure\n")
    (tmp_path / "sudo").chmod(0o755)
    text = "run `sudo first`, then `sudo second`"
    pasted = "\n".join(Target.command_lines(text, shell_commands(text))).removeprefix("$ ")

    def run(answers):
        words = ["bash", "-s"]
        path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        return subprocess.run(words, input=f"{pasted}\n{answers}", text=True, capture_output=True, env=path).stdout

    assert run("sure\nsure\n").split("\n") == ["ran first", "ran second", ""]
    assert run("stop\nsure\n").split("\n") == ["ran first", ""]


def test_a_command_for_a_case_or_for_later_stands_alone():
    text = "`sudo a`, then `sudo b`. Once it is right, `sudo c`; if it is a copy, `sudo d`"
    assert list(Target.command_lines(text, shell_commands(text))) == [
        "$ sudo a && \\",
        "  sudo b",
        "$ sudo c",
        "$ sudo d",
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
