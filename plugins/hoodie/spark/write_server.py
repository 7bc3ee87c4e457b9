"""Writes of a data source are carried out where the Spark session is.

Spark runs the end of such a write in a process of its own, which has no session and so no engine but its own threads. It asks the
process of the session, by a Unix socket in a folder that only the user of both can enter. Both are on one machine: Spark starts
that process beside the driver.
"""

from __future__ import annotations

import logging
import pickle
import threading
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from typing import Protocol

import pyarrow as pa
from pyspark.sql import SparkSession

from hoodie.engine.splits import ArrowSplit
from hoodie.errors import EngineError, HoodieError, as_line, of_line
from hoodie.spark.engine import SparkEngine
from hoodie.spark.error_boundary import spark_call
from hoodie.spark.sink_options import WriteRequest
from hoodie.spark.staging import StagedSplit

_log = logging.getLogger(__name__)

_NO_ERROR = ""
_turn = threading.Lock()
_running: list[WriteServer] = []


class SessionWrite(Protocol):
    """A write that the process of the session carries out. Picklable."""

    @property
    def base_path(self) -> str:
        """The table."""
        ...

    def run(self, spark: SparkSession) -> None:
        """Raises HoodieError."""
        ...


@dataclass(frozen=True)
class StagedWrite:
    """A write whose rows are staged."""

    request: WriteRequest
    schema: pa.Schema
    rows: tuple[StagedSplit, ...]

    @property
    def base_path(self) -> str:
        """The table."""
        return self.request.base_path

    def run(self, spark: SparkSession) -> None:
        """Raises HoodieError."""
        rows = self.rows or (ArrowSplit(self.schema.empty_table()),)
        with spark_call("writing a DataFrame", changes=True):
            result = self.request.carry_out(rows, self.schema, SparkEngine(spark))
        _log.info("%s: %r", self.request.base_path, result)


class WriteServer:
    """Carries out one write a connection, each in a thread of its own, for as long as the process lives."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._listener = Listener(family="AF_UNIX")  # in a folder of the process, which goes with it
        self.address = str(self._listener.address)
        threading.Thread(target=self._serve, name="hoodie-writes", daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection = self._listener.accept()
            threading.Thread(target=self._answer, args=(connection,), name="hoodie-write", daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with connection:
            try:
                write: SessionWrite = pickle.loads(connection.recv_bytes())
                write.run(self.spark)
                answer = _NO_ERROR
            except HoodieError as error:
                answer = as_line(error)
            except Exception:  # noqa: BLE001 - a mistake of this library, reported to the caller of the write
                answer = traceback.format_exc()
            connection.send_bytes(answer.encode())


def server_of(spark: SparkSession) -> WriteServer:
    """The server of the session's Spark application: there is one of them in a process, and one server."""
    with _turn:
        if not _running or _running[0].spark.sparkContext is not spark.sparkContext:
            _running[:] = [WriteServer(spark)]
        return _running[0]


def ask(address: str, write: SessionWrite) -> None:
    """Have the process of the session carry out the write. Raises what that raises, and EngineError when it has ended."""
    try:
        with Client(address, family="AF_UNIX") as connection:
            connection.send_bytes(pickle.dumps(write))
            answer = connection.recv_bytes().decode()
    except (OSError, EOFError) as error:
        raise EngineError(
            f"The process that registered format hoodie does not answer: table {write.base_path} may be unwritten",
            found=f"{type(error).__name__}: {error}",
            fix="hoodie.spark.register(spark) in the process that runs the Spark session, then write again",
        ) from error
    if answer != _NO_ERROR:
        raise of_line(answer) or RuntimeError(answer)
