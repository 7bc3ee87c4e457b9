"""Large and small letters that are not one for one, as Spark 4.2 gives them."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


def test_letters_that_become_several(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table t (id int) using hudi; insert into t values (1)")
        for call, value in {
            "upper('ŉ ǰ ﬁ և ß ᾳ ab')": "ʼN J̌ FI ԵՒ SS ΑΙ AB",
            "upper(max('straße'))": "STRASSE",
            "lower('İ')": "i̇",
            "lower('ΟΔΟΣ ΑΣ. ΣΑ Σ')": "οδος ας. σα σ",
            "lower('A̛Σ')": "a̛ς",
            "lower(null)": None,
            "initcap('a-b STRASSE straße  éa')": "A-b Strasse Straße  Éa",
        }.items():
            assert db.sql(f"select {call} from t").rows() == [(value,)], call
        for text in ("ß", "a ﬁx", "ǆ", "ΟΔΟΣ", "İx", "ა"):
            with pytest.raises(SqlError, match="initcap of a letter"):
                db.sql(f"select initcap('{text}') from t")
