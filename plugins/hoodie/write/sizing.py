"""How many tasks a write has, and whether their memory will do. Pure."""

from __future__ import annotations

from hoodie.config import write_keys as keys
from hoodie.config.key import Options

_INPUT_BYTES = 128 * 1024 * 1024  # of input that a task locates and sorts in memory
_COPIES = 3  # of what a task holds: rows as they came, sorted, and being written
_GIB = 1 << 30

_PARALLELISM = {
    "insert": keys.INSERT_PARALLELISM,
    "bulk_insert": keys.BULK_INSERT_PARALLELISM,
    "upsert": keys.UPSERT_PARALLELISM,
    "delete": keys.DELETE_PARALLELISM,
}


def shuffle_tasks(operation: str, options: Options, input_bytes: int, parallelism: int) -> int:
    """Tasks of a stage: as many as the operation's `hoodie.*.shuffle.parallelism` says, else one for each 128 MiB of input, and
    not fewer than run at once."""
    return options[_PARALLELISM[operation]] or max(parallelism, -(-input_bytes // _INPUT_BYTES))


def input_tasks(operation: str, options: Options, parallelism: int) -> int:
    """Splits of an input that can be cut at will: of a bulk insert they make the files."""
    given = options[_PARALLELISM[operation]] if operation == "bulk_insert" else 0
    return given or parallelism


def memory_advice(
    operation: str, options: Options, input_bytes: int, tasks: int, at_once: int, given_bytes: int
) -> str | None:
    """What to tell before a write begins whose tasks may run out of memory; None when all is well.

    `given_bytes` is what one task has. A task holds a row group and, but for bulk inserts, its share of the input, and copies of
    both.
    """
    share = 0 if operation == "bulk_insert" else -(-input_bytes // max(1, tasks))
    wanted = _COPIES * (share + options[keys.ROW_GROUP_SIZE])
    if wanted <= given_bytes:
        return None
    more = -(-tasks * wanted // max(1, given_bytes))
    return (
        f"This {operation} would like about {wanted / _GIB:.1f} GiB for each of the {at_once} tasks that run at once; each has "
        f"{given_bytes / _GIB:.1f} GiB. On Spark give Python workers more (spark.executor.memoryOverhead of "
        f"{at_once * wanted / _GIB:.1f} GiB for {at_once} cores an executor; spark.memory.storageFraction can be 0, nothing is "
        f"cached), run fewer tasks at once, or make them smaller: {_PARALLELISM[operation].name}={more}"
    )
