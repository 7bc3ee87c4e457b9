"""Tables of text in the width of a terminal."""

from __future__ import annotations

from rich.cells import cell_len

from hudi_services.runtime.text_table import TextColumn, fact_lines, table_lines, text_lines, vertical_lines, wrapped

COLUMNS = (
    TextColumn("table"),
    TextColumn("rows", right=True),
    TextColumn("note", rank=3),
    TextColumn("path", rank=2),
    TextColumn("size", right=True, rank=2),
)
ROWS = [["orders", "12", "of today", "a/long/path", "1 KiB"], ["顧客", "1,204", "", "b", "20 KiB"]]


def texts(lines):
    return [line.text for line in lines]


def test_a_table_without_a_limit_has_all_columns_and_numbers_at_the_right():
    assert texts(table_lines(COLUMNS, ROWS, None)) == [
        "table    rows  note      path           size",
        "orders     12  of today  a/long/path   1 KiB",
        "顧客    1,204            b            20 KiB",
    ]


def test_the_least_important_columns_are_left_out_and_named():
    assert texts(table_lines(COLUMNS, ROWS, 35)) == [
        "table    rows  path           size",
        "orders     12  a/long/path   1 KiB",
        "顧客    1,204  b            20 KiB",
        "left out: note (--wide shows all)",
    ]
    assert texts(table_lines(COLUMNS, ROWS, 26))[0] == "table    rows  path"
    assert texts(table_lines(COLUMNS, ROWS, 13))[0] == "table    rows"
    assert texts(table_lines([TextColumn("a"), TextColumn("b")], [["1234567890", ""], ["1", ""]], 10))[0] == "a"


def test_rows_go_down_the_page_where_columns_that_stay_do_not_fit():
    columns = [TextColumn("id", right=True, rank=0), TextColumn("text", rank=0)]
    rows = [["1", "abc def ghi jkl"], ["2", ""]]
    down = ["── 1 ──", "id    1", "text  abc def", "      ghi jkl", "── 2 ──", "id    2", "text"]
    assert texts(table_lines(columns, rows, 15)) == down
    assert texts(vertical_lines(["id", "text"], rows, 15)) == down


def test_sentences_take_several_lines_before_a_column_is_left_out():
    columns = [TextColumn("name"), TextColumn("why", wraps=True), TextColumn("n", right=True)]
    rows = [["t", "the older versions of files are kept by a savepoint", "3"]]
    assert texts(table_lines(columns, rows, 40)) == [
        "name  why                              n",
        "t     the older versions of files are  3",
        "      kept by a savepoint",
    ]


def test_no_line_is_longer_than_the_width():
    words = "顧客の注文 of table_with_a_long_name_and_no_blanks_at_all, and more"
    for width in (20, 33, 60):
        lines = [
            *text_lines(f"  {words}\n{words * 3}", width),
            *fact_lines([("a name that is long", words), ("b", "")], width),
            *table_lines(COLUMNS, [[words] * 5], width),
            *table_lines([TextColumn("w" * 70), TextColumn("b", wraps=True)], [[words, words]], width),
        ]
        assert max(cell_len(line.text) for line in lines) <= width
        assert "".join(wrapped(words, width)).replace(" ", "") == words.replace(" ", "")


def test_the_lines_of_a_single_column_stay_lines():
    """A plan is a tree: an address before each line would hide it."""
    plan = [TextColumn("plan", rank=0)]
    rows = [["Project"], ["+- Scan"], [""], ["Location: a place that is far away"]]
    assert texts(table_lines(plan, rows, 20)) == [
        "plan",
        "Project",
        "+- Scan",
        "",
        "Location: a place",
        "  that is far away",
    ]
