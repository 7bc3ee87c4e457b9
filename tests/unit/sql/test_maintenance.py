"""VACUUM and OPTIMIZE."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError, TableNotFoundError
from hoodie.sql import connect
from hoodie.timeline import Action

CREATE = "CREATE TABLE t (id STRING, n INT) USING hudi TBLPROPERTIES (primaryKey = 'id', type = '{}')"


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        yield connection


def actions(db):
    entry = db.session.catalog.tables("default")
    assert len(entry) == 1
    table = db.session.open(db.session.catalog.find(entry[0]))
    return [instant.action.completed_as for instant in table.timeline if instant.is_completed]


def test_vacuum_cleans_and_says_what(db):
    db.sql(CREATE.format("cow"))
    for number in range(3):
        db.sql(f"INSERT INTO t VALUES ('a', {number})")
    db.sql("SET hoodie.clean.commits.retained = 1")
    for words in ("VACUUM t DRY RUN", "EXPLAIN VACUUM t", "explain vacuum table default.t dry run"):
        assert "nothing was changed" in db.sql(words).message
    assert Action.CLEAN not in actions(db)
    kept = db.sql("VACUUM t RETAIN 168 HOURS").message
    assert "168" in kept
    assert Action.CLEAN not in actions(db)
    done = db.sql("vacuum `t`").message
    assert ".parquet" in done
    assert "nothing was changed" not in done
    assert Action.CLEAN in actions(db)


def test_optimize_compacts_logs_and_clusters_files(db):
    db.sql(CREATE.format("mor"))
    db.sql("INSERT INTO t VALUES ('a', 1)")
    db.sql("UPDATE t SET n = 5; UPDATE t SET n = 7")
    assert "nothing was changed" in db.sql("EXPLAIN OPTIMIZE t").message
    before = actions(db)
    assert "compact: carried out" in db.sql("OPTIMIZE t").message
    assert actions(db)[len(before) :] == [Action.COMMIT]
    assert "cluster: carried out" in db.sql("OPTIMIZE t ZORDER BY (n, id)").message
    assert actions(db)[-1] is Action.REPLACE_COMMIT
    assert db.sql("SELECT * FROM t").rows() == [("a", 7)]
    assert "nothing was changed" in db.sql("OPTIMIZE t").message


def test_other_words_are_refused(db):
    db.sql(CREATE.format("cow"))
    for words in ("VACUUM t RETAIN x HOURS", "OPTIMIZE t WHERE id = 'a'", "OPTIMIZE", "VACUUM 't'"):
        with pytest.raises(SqlError, match=words.split()[0] + r" t \["):
            db.sql(words)
    with pytest.raises(TableNotFoundError):
        db.sql("VACUUM u")
