"""Words of `cdc status`. The command itself runs in test_registered.py."""

from __future__ import annotations

import pytest

from hudi_services.cli.commands.cdc_status import log_words
from hudi_services.sources.databases.status import LogLeft


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (LogLeft("bin.1:4", 7200.0, 3600.0, False), "for at least 2 h 0 min from bin.1:4 on"),
        (LogLeft("bin.1:4", -1.0, 3600.0, False), "may have removed bin.1:4"),
        (LogLeft("bin.1:4", None, 0.0, False), "for ever"),
        (LogLeft("bin.1:4", None, 3600.0, True), "the log has no bin.1:4"),
    ],
)
def test_the_log_that_is_left_is_said_in_words(log, words):
    assert words in log_words(log)
