"""Advice in a terminal: lines that fit, commands that stay whole, and what was looked at if nothing is to do."""

from __future__ import annotations

from rich.cells import cell_len

from hudi_services.operations.advice.model import Advice, Effect, Severity
from hudi_services.operations.advice.rounds import Advised
from hudi_services.operations.advice.text import as_text
from tests.support.advice import AT_NINE, NOW


def test_a_block_for_each_table_and_one_line_for_the_others():
    fix = f"hudi-services compact --table orders --registry {'long/' * 20}tables.yaml"
    effect = Effect("Compacting", 8, "file group", 686 << 10, 1.6)
    text = "Reads merge 3.5 bytes of logs per byte of data (limit 0.5)"
    waits = "It waits for an ingestion in Airflow."
    missed = Advice(
        "orders", Severity.MISSED, "objective", "log_ratio", text, AT_NINE, fix=fix, effect=effect, waits=waits
    )
    due = Advice("orders", Severity.DUE, "due", "clean", "No reader needs 3 files")
    idle = [Advised("a", "", (), ("files", "locks")), Advised("b", "", (), ("files", "the doctor's checks"))]
    assert as_text([Advised("orders", "", (missed, due)), *idle], NOW, 60).splitlines() == [
        "orders: 1 missed, 1 due",
        "  MISSED   Reads merge 3.5 bytes of logs per byte of data",
        "           (limit 0.5), since 09:00 UTC.",
        "           Compacting 8 file groups, 686 KiB, takes about 2",
        "           s. It waits for an ingestion in Airflow.",
        f"           $ {fix}",
        "  DUE      No reader needs 3 files.",
        "",
        "Nothing to do: a, b.",
        "Looked at: files.",
    ]


def test_long_paths_and_wide_characters_fit_too():
    text = f"A file is missing ({'part=a/' * 9}{'顧客' * 9}.parquet)"
    missing = Advice("orders", Severity.DAMAGE, "doctor", "missing-file", text)
    lines = as_text([Advised("orders", "", (missing,))], NOW, 40).splitlines()
    assert max(cell_len(line) for line in lines) == 40
    assert "".join(line.strip() for line in lines[1:]).replace(" ", "").endswith(f"{'顧客' * 9}.parquet).")
