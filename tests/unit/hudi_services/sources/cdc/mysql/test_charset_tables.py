"""Characters that Python's codecs lack."""

from __future__ import annotations

from hudi_services.sources.cdc.mysql.charset_tables import CHARMAPS, EXTRAS


def test_each_table_has_a_place_for_each_byte():
    assert {charset: len(table) for charset, table in CHARMAPS.items()} == dict.fromkeys(CHARMAPS, 256)
    assert CHARMAPS["armscii8"][0xFE] == "’"
    assert CHARMAPS["swe7"][ord("{")] == "ä"


def test_runs_of_codes_pass_over_bytes_that_end_no_code():
    private = EXTRAS["ujis"]
    assert (private[b"\xf5\xfe"], private[b"\xf6\xa1"], private[b"\xfe\xfe"]) == ("\ue05d", "\ue05e", "\ue3ab")
    assert (private[b"\x8f\xf5\xa1"], private[b"\x8f\xfe\xfe"], len(private)) == ("\ue3ac", "\ue757", 2 * 940)
    assert (EXTRAS["eucjpms"][b"\xad\xc0"], b"\xad\xc0" in private) == ("㍉", False)
