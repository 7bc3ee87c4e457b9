"""How many tasks a write has, and whether their memory will do. Pure."""

from __future__ import annotations

from hoodie.config.key import Options
from hoodie.config.keys import write as keys
from hoodie.config.operations import Operation
from hoodie.display import size_of

_INPUT_BYTES = 128 * 1024 * 1024  # bytes of input that a task tags and sorts in memory
_LEAST_BYTES = 64 * 1024  # bytes of input for which another task is worth its start
_FREE_TASKS = 64  # tasks that are never too many
_BLIND_TASKS = 10_000  # tasks for an input of unknown size
_COPIES = 3  # copies of what a task holds: rows as they came, sorted, and being written


def shuffle_tasks(operation: Operation, options: Options, input_bytes: int, parallelism: int) -> int:
    """Tasks of a stage: as many as the operation's `hoodie.*.shuffle.parallelism` says, but not more than the input can use.
    Without that option: one for each 128 MiB of input, and not fewer than run at once."""
    requested_tasks = min(options[operation.parallelism], _most_tasks(input_bytes, parallelism))
    return requested_tasks or max(parallelism, -(-input_bytes // _INPUT_BYTES))


def input_tasks(operation: Operation, options: Options, input_bytes: int, parallelism: int) -> int:
    """Splits of an input that can be cut at will: of a bulk insert they make the files."""
    requested_tasks = options[operation.parallelism] if operation.in_one_pass else 0
    return min(requested_tasks, _most_tasks(input_bytes, parallelism)) or parallelism


def too_many_tasks(operation: Operation, options: Options, tasks: int) -> str | None:
    """A warning when the input has use for `tasks` only, fewer than asked for; None when it gets what is asked for."""
    key = operation.parallelism
    if options[key] <= tasks:
        return None
    return f"{key.name}={options[key]} is more than the input has use for: {tasks} tasks"


def _most_tasks(input_bytes: int, parallelism: int) -> int:
    if not input_bytes:  # Spark does not always know the size of a DataFrame
        return max(_BLIND_TASKS, 4 * parallelism)
    return max(_FREE_TASKS, 4 * parallelism, -(-input_bytes // _LEAST_BYTES))


def memory_advice(
    operation: Operation, options: Options, input_bytes: int, tasks: int, at_once: int, given_bytes: int
) -> str | None:
    """A warning before a write begins whose tasks may run out of memory; None when all is well.

    `given_bytes` is what one task has. A task holds a row group and, but for bulk inserts, its share of the input, and copies of
    both.
    """
    share = 0 if operation.in_one_pass else -(-input_bytes // max(1, tasks))
    needed = _COPIES * (share + options[keys.ROW_GROUP_SIZE])
    if needed <= given_bytes:
        return None
    more = -(-tasks * needed // max(1, given_bytes))
    return (
        f"This {operation.name} would like about {size_of(needed)} for each of the {at_once} tasks that run at once; each "
        f"has {size_of(given_bytes)}. On Spark give Python workers more (spark.executor.memoryOverhead of "
        f"{size_of(at_once * needed)} for {at_once} cores an executor; spark.memory.storageFraction can be 0, nothing is "
        f"cached), run fewer tasks at once, or make them smaller: {operation.parallelism.name}={more}"
    )
