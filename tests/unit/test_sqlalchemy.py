"""SQLAlchemy over the tables of a warehouse."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    String,
    Table,
    create_engine,
    func,
    inspect,
    select,
)
from sqlalchemy.exc import CompileError, NoSuchTableError, ProgrammingError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import hoodie.sqlalchemy  # noqa: F401 - makes the name `hoodie` known
from hoodie import HoodieTable


@pytest.fixture
def engine(tmp_path):
    found = create_engine(f"hoodie:///{tmp_path}/lake?hoodie.archive.automatic=false")
    yield found
    found.dispose()


def orders(metadata: MetaData) -> Table:
    return Table(
        "orders",
        metadata,
        Column("id", Integer, primary_key=True),
        Column("total", Numeric(10, 2)),
        Column("weight", Float),
        Column("count", BigInteger),
        Column("order", String(20)),
        Column("paid", Boolean),
        Column("at", DateTime(timezone=True)),
        Column("local", DateTime),
        Column("raw", LargeBinary),
        Column("day", Date),
        Column("part", String),
        hoodie_properties={"type": "mor", "preCombineField": "count"},
        hoodie_partitioned_by=["part"],
    )


ROW = {
    "id": 1,
    "total": Decimal("9.50"),
    "weight": 0.1,
    "count": 2**40,
    "order": "a 'b' `c` ? \\ %",
    "paid": True,
    "at": datetime(2026, 1, 31, 12, tzinfo=UTC),
    "local": datetime(2026, 1, 31, 12, 0, 0, 5),
    "raw": b"\0\xff",
    "day": date(2026, 1, 31),
    "part": "p",
}


def test_tables_are_made_filled_and_read(engine, tmp_path):
    table = orders(MetaData())
    table.metadata.create_all(engine)
    table.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), [ROW, {**ROW, "id": 2, "part": "q"}])
        connection.execute(table.update().where(table.c.id == 2).values(total=table.c.total * 2))
        query = (
            select(table).where(table.c["order"].like("a%"), table.c.part.in_(["p", "q"])).order_by(table.c.id).limit(1)
        )
        assert connection.execute(query).mappings().all() == [ROW]
        assert connection.execute(select(func.sum(table.c.total))).scalar() == Decimal("28.50")
        connection.execute(table.delete().where(table.c.id == 1))
        assert connection.execute(select(func.count()).select_from(table)).scalar() == 1
    stored = HoodieTable.open(tmp_path / "lake" / "orders")
    assert (stored.properties.record_key_fields, stored.properties.partition_fields) == (("id",), ("part",))
    assert len(stored.timeline.commits) == 3, "the rows of one insert are one commit"


def test_tables_are_looked_at(engine):
    metadata = MetaData()
    orders(metadata)
    metadata.create_all(engine)
    seen = inspect(engine)
    assert (seen.get_schema_names(), seen.get_table_names(), seen.has_table("no")) == (["default"], ["orders"], False)
    assert seen.get_pk_constraint("orders")["constrained_columns"] == ["id"]
    again = Table("orders", MetaData(), autoload_with=engine)
    assert [(c.name, repr(c.type)) for c in again.columns if c.name in ("total", "at", "local", "raw")] == [
        ("total", "Numeric(precision=10, scale=2)"),
        ("at", "DateTime(timezone=True)"),
        ("local", "DateTime()"),
        ("raw", "LargeBinary()"),
    ]
    with pytest.raises(NoSuchTableError):
        Table("no", MetaData(), autoload_with=engine)


class Base(DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "people"
    name: Mapped[str] = mapped_column(primary_key=True)
    age: Mapped[int]


def test_objects_are_rows(engine):
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Person(name="Ann", age=3), Person(name="Bob", age=4)])
        session.commit()
        session.get_one(Person, "Ann").age = 5
        session.commit()
        session.delete(session.get_one(Person, "Bob"))
        session.commit()
    with Session(engine) as session:
        assert [(p.name, p.age) for p in session.scalars(select(Person))] == [("Ann", 5)]


def test_what_tables_cannot_do_is_told(engine):
    with pytest.raises(CompileError, match="no foreign keys"):
        Table("t", MetaData(), Column("a", Integer, ForeignKey("u.a")), Column("id", Integer, primary_key=True)).create(
            engine
        )
    with pytest.raises(CompileError, match="computes no values"):
        Table("t", MetaData(), Column("a", Integer, server_default="1")).create(engine)
    with pytest.raises(ProgrammingError, match="no table default"), engine.connect() as connection:
        connection.execute(select(Table("no", MetaData(), Column("a", Integer))))


def test_a_database_is_named_in_the_url(engine, tmp_path):
    with engine.begin() as connection:
        connection.exec_driver_sql("create database other")
    other = create_engine(f"hoodie:///{tmp_path}/lake?database=other")
    Base.metadata.create_all(other)
    assert inspect(other).get_table_names() == ["people"]
    assert inspect(engine).get_table_names(schema="other") == ["people"]
    assert inspect(engine).get_table_names() == []
    with pytest.raises(ProgrammingError, match="There is no database nowhere"):
        create_engine(f"hoodie:///{tmp_path}/lake?database=nowhere").connect()
