"""Broken YAML, and what to do about it in plain words."""

from __future__ import annotations

import pytest

from hudi_services.entry.yaml_positions import read_marked

START = "tables:\n  - name: a\n    base_path: /tmp/x\n"


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        (
            f"{START}     keys: {{}}\n",
            4,
            "line 4 begins after 5 spaces, deeper than line 3, which has a value: use 4 spaces, if it is beside it",
        ),
        (
            "tables:\n  - name: a\n   base_path: /tmp/x\n",
            3,
            "line 3 begins after 3 spaces, and the keys above it after 4 spaces: indent it like the keys beside it",
        ),
        (
            f"{START}  keys: {{}}\n",
            4,
            "line 4 begins after 2 spaces, and the keys above it after 4 spaces: indent it like the keys beside it",
        ),
        (
            f"{START}    source:\n      path: /x\n     format: csv  # of the files\n",
            6,
            "and the keys above it after 4 spaces or 6 spaces: indent it like the keys beside it",
        ),
        (f"{START}    keys: {{record_key: [id}}\n", 4, "close the bracket [ or { that is open there, or separate its"),
        (
            "tables:\n  - name: a\n    base_path:x\n    type: y\n",
            4,
            "write a space after the colon in line 3: base_path:x",
        ),
        ("tables:\n  -name: a\n   base_path: x\n", 3, "write a space after the dash in line 2"),
        (
            "tables:\n  - name: @a\n",
            2,
            "put the value into quotes, as it begins with a sign that YAML keeps for itself",
        ),
        ("tables:\n  - name: 'a\n", 3, "close the quote or the bracket that is open"),
        ('tables:\n  - name: "C:\\d"\n', 2, "put the value into single quotes"),
        (
            "tables:\n  - description: sales: all\n",
            2,
            "put the value into quotes, as it has a colon with a space behind it",
        ),
        ("tables:\n\t- name: a\n", 2, "a tab is before the text of the line: indent by spaces"),
    ],
)
def test_the_remedy(text, line, remedy):
    (problem,) = read_marked(text).problems
    assert problem.line == line
    assert problem.message.startswith("cannot be read: ")
    assert remedy in problem.message


@pytest.mark.parametrize(
    "text", ["tables: \x07\n", "%", "a: &\n", "a: *b\n", "- a\nb\n", "? [\n", "a: !x y\n", ":\n :", "-\n-:\n - ]"]
)
def test_other_problems_have_a_line_alone(text):
    for problem in read_marked(text).problems:
        assert problem.message
