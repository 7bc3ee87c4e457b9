"""The engine of a Spark cluster. Rows travel as Arrow blocks: Spark shuffles opaque bytes, the JVM never sees a record.

Everything is an RDD of (bucket, Arrow IPC bytes); a DataFrame enters through `mapInArrow`. Spark keeps the files of a shuffle
and uses them again, so buckets can be mapped any number of times without a cache.
"""

from __future__ import annotations

import pickle
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import RDD, TaskContext
from pyspark.sql import DataFrame, SparkSession

from hoodie.engine.base import Block, BucketFn, Buckets, Exchanged, InputFn
from hoodie.engine.local import machine_memory
from hoodie.engine.pack import shares
from hoodie.engine.progress import Progress, Stage, step_of
from hoodie.spark.blocks import from_bytes, to_bytes
from hoodie.spark.failures import raised_errors
from hoodie.spark.metrics import Meter, new_meter
from hoodie.spark.watch import watched
from hoodie.spark.worker import worker_task

T = TypeVar("T")
R = TypeVar("R")
Pair = tuple[int, bytes]

_MIB = 1 << 20
_NANOS = 1e9  # nanoseconds of a second
_UNKNOWN_SIZE = 1 << 50  # Spark's guess for a plan without statistics is near 2**63


class SparkEngine:
    """Runs tasks on Spark's executors."""

    def __init__(self, spark: SparkSession, progress: Progress | None = None) -> None:
        self._context = spark.sparkContext
        self._progress = progress
        self._meter = new_meter(self._context)

    @property
    def parallelism(self) -> int:
        return int(self._context.defaultParallelism)

    @property
    def in_process(self) -> bool:
        return False

    @property
    def host(self) -> str:
        """The address by which executors reach the driver."""
        return str(self._context.getConf().get("spark.driver.host") or socket.getfqdn())

    @property
    def tasks_per_process(self) -> int:
        return 1

    @property
    def task_memory(self) -> int:
        """In local mode the machine's memory without the driver's heap, otherwise the executors' memory without their heap."""
        if self._context.master.startswith("local"):
            heap = self._megabytes("spark.driver.memory", "1g")
            return max(0, machine_memory() - heap * _MIB) // self.parallelism
        heap = self._megabytes("spark.executor.memory", "1g")
        factor = float(self._context.getConf().get("spark.executor.memoryOverheadFactor") or 0.1)
        least = self._megabytes("spark.executor.minMemoryOverhead", "384m")
        overhead = self._megabytes("spark.executor.memoryOverhead", f"{max(least, int(heap * factor))}m")
        own = self._megabytes("spark.executor.pyspark.memory", "0m")
        cores = int(self._context.getConf().get("spark.executor.cores") or 1)
        return (own or overhead) * _MIB // cores

    def _megabytes(self, key: str, default: str) -> int:
        text = self._context.getConf().get(key) or default
        return int(self._context._jvm.org.apache.spark.network.util.JavaUtils.byteStringAsMb(text))

    @property
    def application(self) -> str:
        """The id of the Spark application."""
        return str(self._context.applicationId)

    @property
    def cpu_seconds(self) -> float | None:
        """Seconds of processors: those of this engine's tasks in their Python workers, and the executors' JVMs for the
        application, as far as Spark keeps its stages. Not of the driver. None for an application that is gone."""
        try:
            gateway, jvm = self._context._gateway, self._context._jvm
            none, no_quantiles = jvm.java.util.ArrayList(), gateway.new_array(jvm.double, 0)
            stages = self._context._jsc.sc().statusStore().stageList(none, False, False, no_quantiles, none)
            inside = sum(int(stages.apply(number).executorCpuTime()) for number in range(stages.size()))
        except (Py4JError, AttributeError, OSError):
            return None
        return float(self._meter.value.cpu) + inside / _NANOS

    @property
    def peak_memory(self) -> int | None:
        """Bytes that the largest of the Python workers held at once in a task of this engine. None when no worker could say."""
        return self._meter.value.memory or None

    @property
    def write_token(self) -> Callable[[int], str]:
        return _write_token

    def map(self, function: Callable[[T], R], tasks: Sequence[T], sizes: Sequence[int] = ()) -> list[R]:
        if not tasks:
            return []
        dealt = shares(sizes, self.parallelism) if sizes else _one_each(len(tasks))
        together = [[(number, tasks[number]) for number in share] for share in dealt]
        numbered: list[tuple[int, R]] = self._run(
            self._rdd(together).flatMap(_EachResult(function, self._meter)), function, sum(sizes)
        )
        return [result for _, result in sorted(numbered, key=_first)]

    def map_input(self, function: InputFn[R], rows: Any) -> list[R]:
        if isinstance(rows, DataFrame):
            frame = rows.mapInArrow(_InputResult(function, self._meter), "result binary")
            with raised_errors(), self._watched(function, 0):
                return [pickle.loads(row[0]) for row in frame.collect()]
        return self._run(self._rdd(rows).map(_SplitResult(function, self._meter)), function, self.input_size(rows))

    def exchange_inputs(self, inputs: Sequence[tuple[InputFn[Iterable[Block]], Any]], count: int) -> Exchanged:
        frames = [entry for entry in inputs if isinstance(entry[1], DataFrame)]
        parts = [
            rows.mapInArrow(_InputBlocks(f, self._meter), "bucket int, block binary").rdd.map(_pair)
            for f, rows in frames
        ]
        splits = [entry for entry in inputs if not isinstance(entry[1], DataFrame)]
        if splits:
            # One RDD of all splits: what a union adds would send every block through the JVM to a second worker.
            tasks = [(place, task) for place, (_, rows) in enumerate(splits) for task in enumerate(rows)]
            work = _SplitBlocks(tuple(function for function, _ in splits), self._meter)
            parts.append(self._context.parallelize(tasks, max(1, len(tasks))).flatMap(work))
        pairs: RDD[Pair] = parts[0] if len(parts) == 1 else self._context.union(parts)
        return _SparkBuckets(self, pairs, _one_each(count))

    def input_size(self, rows: Any) -> int:
        if isinstance(rows, DataFrame):
            size = int(rows._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())
            return size if size < _UNKNOWN_SIZE else 0
        return sum(split.size for split in rows)

    def _rdd(self, tasks: Sequence[Any]) -> RDD[tuple[int, Any]]:
        numbered = list(enumerate(tasks))
        return self._context.parallelize(numbered, max(1, len(numbered)))

    def _run(self, rdd: RDD[R], function: Callable[..., Any], size: int = 0) -> list[R]:
        with raised_errors(), self._watched(function, size):
            results: list[R] = rdd.collect()
            return results

    def _watched(self, function: Callable[..., Any], size: int) -> AbstractContextManager[None]:
        """Report the progress of the job that the block runs, of about `size` bytes."""
        if self._progress is None:
            return nullcontext()
        return watched(self._context.statusTracker(), self._progress, Stage(step_of(function), 0, size))


class _SparkBuckets:
    """Each partition of the RDD has the pairs of the buckets of one share."""

    def __init__(self, engine: SparkEngine, pairs: RDD[Pair], dealt: tuple[tuple[int, ...], ...]) -> None:
        self._engine = engine
        self._shares = dealt
        self.count = sum(map(len, dealt))
        self._rdd = pairs.partitionBy(len(dealt), _ShareOfBucket.of(dealt))

    def map_rows(self, function: BucketFn[tuple[R, Callable[[], pa.Table]]]) -> tuple[list[R], Buckets]:
        return self.map(_Result(function)), _ComputedBuckets(self, function)

    def map(self, function: BucketFn[R]) -> list[R]:
        numbered: list[tuple[int, R]] = self._engine._run(
            self._rdd.mapPartitionsWithIndex(_BucketResults(function, self._shares, self._engine._meter)), function
        )
        return [result for _, result in sorted(numbered, key=_first)]

    def exchange(self, function: BucketFn[Iterable[Block]], count: int, sizes: Sequence[int] = ()) -> Buckets:
        pairs = self._rdd.mapPartitionsWithIndex(_BucketBlocks(function, self._shares, self._engine._meter))
        return _SparkBuckets(
            self._engine, pairs, shares(sizes, self._engine.parallelism) if sizes else _one_each(count)
        )

    def union(self, other: Any) -> Exchanged:
        # PySpark forgets that both have one partitioner, so the union is shuffled again.
        return _SparkBuckets(self._engine, self._rdd.union(other._rdd), self._shares)


@dataclass(frozen=True)
class _ComputedBuckets:
    """Rows that a function makes of those of buckets, each time they are used: that costs less than to keep their bytes."""

    of: Buckets
    function: BucketFn[tuple[Any, Callable[[], pa.Table]]]

    @property
    def count(self) -> int:
        return self.of.count

    def map(self, function: BucketFn[R]) -> list[R]:
        return self.of.map(_Then(self.function, function))

    def exchange(self, function: BucketFn[Iterable[Block]], count: int, sizes: Sequence[int] = ()) -> Buckets:
        return self.of.exchange(_Then(self.function, function), count, sizes)


def _one_each(count: int) -> tuple[tuple[int, ...], ...]:
    return tuple((bucket,) for bucket in range(count))


# Code in the workers: picklable callables around the library's functions.


@dataclass(frozen=True)
class _EachResult:
    function: Callable[[Any], Any]
    meter: Meter

    def __call__(self, numbered: tuple[int, list[tuple[int, Any]]]) -> list[tuple[int, Any]]:
        with worker_task(self.meter):
            return [(number, self.function(task)) for number, task in numbered[1]]


@dataclass(frozen=True)
class _SplitResult:
    function: InputFn[Any]
    meter: Meter

    def __call__(self, task: tuple[int, Any]) -> Any:
        with worker_task(self.meter):
            return self.function(task[0], task[1].batches())


@dataclass(frozen=True)
class _SplitBlocks:
    functions: tuple[InputFn[Iterable[Block]], ...]
    meter: Meter

    def __call__(self, task: tuple[int, tuple[int, Any]]) -> Iterator[Pair]:
        place, (number, split) = task
        with worker_task(self.meter):
            yield from _pairs(self.functions[place](number, split.batches()))


@dataclass(frozen=True)
class _InputResult:
    function: InputFn[Any]
    meter: Meter

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task(self.meter):
            result = pickle.dumps(self.function(_task().partitionId(), batches))
            yield pa.record_batch({"result": pa.array([result], pa.binary())})


@dataclass(frozen=True)
class _InputBlocks:
    function: InputFn[Iterable[Block]]
    meter: Meter

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task(self.meter):
            for bucket, block in _pairs(self.function(_task().partitionId(), batches)):
                yield pa.record_batch(
                    {"bucket": pa.array([bucket], pa.int32()), "block": pa.array([block], pa.binary())}
                )


@dataclass(frozen=True)
class _ShareOfBucket:
    places: tuple[int, ...]

    @staticmethod
    def of(dealt: tuple[tuple[int, ...], ...]) -> _ShareOfBucket:
        places = {bucket: place for place, share in enumerate(dealt) for bucket in share}
        return _ShareOfBucket(tuple(places[bucket] for bucket in range(len(places))))

    def __call__(self, bucket: int) -> int:
        return self.places[bucket]


@dataclass(frozen=True)
class _Result:
    """Only the result, without the rows."""

    function: BucketFn[tuple[Any, Callable[[], pa.Table]]]

    def __call__(self, bucket: int, tables: Iterator[pa.Table]) -> Any:
        return self.function(bucket, tables)[0]


@dataclass(frozen=True)
class _Then:
    """A function of the rows that another makes of those of a bucket."""

    before: BucketFn[tuple[Any, Callable[[], pa.Table]]]
    function: BucketFn[Any]

    def __call__(self, bucket: int, tables: Iterator[pa.Table]) -> Any:
        return self.function(bucket, iter((self.before(bucket, tables)[1](),)))


@dataclass(frozen=True)
class _BucketResults:
    function: BucketFn[Any]
    dealt: tuple[tuple[int, ...], ...]
    meter: Meter

    def __call__(self, place: int, pairs: Iterator[Pair]) -> Iterator[tuple[int, Any]]:
        with worker_task(self.meter):
            for bucket, tables in _by_bucket(self.dealt[place], pairs):
                yield bucket, self.function(bucket, tables)


@dataclass(frozen=True)
class _BucketBlocks:
    function: BucketFn[Iterable[Block]]
    dealt: tuple[tuple[int, ...], ...]
    meter: Meter

    def __call__(self, place: int, pairs: Iterator[Pair]) -> Iterator[Pair]:
        with worker_task(self.meter):
            for bucket, tables in _by_bucket(self.dealt[place], pairs):
                yield from _pairs(self.function(bucket, tables))


def _by_bucket(share: tuple[int, ...], pairs: Iterator[Pair]) -> Iterator[tuple[int, Iterator[pa.Table]]]:
    """The rows of each bucket of a share: of one bucket as they arrive, of several once all have, as bytes until then."""
    if len(share) == 1:
        yield share[0], (from_bytes(block) for _, block in pairs)
        return
    blocks: dict[int, list[bytes]] = {bucket: [] for bucket in share}
    for bucket, block in pairs:
        blocks[bucket].append(block)
    for bucket in share:
        yield bucket, map(from_bytes, blocks.pop(bucket))


def _pairs(blocks: Iterable[Block]) -> Iterator[Pair]:
    for bucket, table in blocks:
        for block in to_bytes(table):
            yield bucket, block


def _pair(row: Any) -> Pair:
    return row[0], bytes(row[1])


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _task() -> TaskContext:
    context = TaskContext.get()
    assert context is not None
    return context


def _write_token(task: int) -> str:
    """Spark's own attempt number is unique in the application, so a task that is run again writes another file."""
    context = _task()
    return f"{task}-{context.stageId()}-{context.taskAttemptId()}"
