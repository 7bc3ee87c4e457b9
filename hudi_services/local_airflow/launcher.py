"""Airflow left running on a registry, until it is stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from rich.console import Console

from hoodie.display import counted, printable
from hoodie.errors import HoodieError, MachineError, RegistryError
from hudi_services.local_airflow.api import AirflowApi
from hudi_services.local_airflow.dags import wait_for_dags
from hudi_services.local_airflow.home import AirflowHome, check_installed
from hudi_services.local_airflow.logs import remove_old_logs
from hudi_services.local_airflow.owner import Owner, find_owner
from hudi_services.local_airflow.ports import free_ports, is_free
from hudi_services.local_airflow.processes import Parts, processes_of, started, wait_until_up
from hudi_services.local_airflow.registry_summary import dags_of, summary_lines
from hudi_services.local_airflow.signals import ended_by_signals
from hudi_services.registry.load import Reading, read_registry

PORT = 8080
_LOOK = 2.0  # seconds between looks at the registry's file
_Stamp = tuple[int, int, int] | None


def chosen_ports(console: Console, port: int | None) -> tuple[int, int, int, int]:
    """The port of the pages, `port` or 8080, and three more. If 8080 is taken, another one is chosen and printed.

    Raises MachineError when `port` is taken.
    """
    page, *others = free_ports()
    preferred = PORT if port is None else port
    if is_free(preferred):
        return preferred, others[0], others[1], others[2]
    if port is not None:
        raise MachineError(f"Port {port} is in use", fix=f"stop what listens there, or give another one: --port {page}")
    console.print(f"port {preferred} is in use: Airflow's pages get port {page} (--port chooses one)", highlight=False)
    return page, others[0], others[1], others[2]


def serve(
    console: Console,
    home: AirflowHome,
    port: int | None = None,
    begin: Callable[[AirflowApi], None] = lambda _api: None,
    hint: str = "Each DAG has a form: Trigger runs it now, `explain` shows what it would do.",
) -> None:
    """Run Airflow of `home` until Ctrl-C, SIGTERM or a closed terminal, on `port` or the one that `chosen_ports` finds.
    `begin` is called once when it is up.

    If one runs already, only print that. Raises RegistryError for a registry that cannot be used at all or when the one
    that runs has another, MachineError when Airflow does not start or ends by itself.
    """
    if owner := find_owner(home.folder):
        _tell_owner(console, home, owner)
        return
    check_installed()
    reading = _usable(home)
    _tell(console, *summary_lines(reading, _today()))
    home = replace(home, ports=chosen_ports(console, port))
    home.make()
    if removed := remove_old_logs(home.task_logs, home.log_days):
        _tell(console, f"removed {counted(removed, 'log file')} older than {counted(home.log_days, 'day')}")
    if leftovers := processes_of(home.folder):
        _tell(
            console, f"an earlier start was killed and left {len(leftovers)} processes of Airflow: they are ended now"
        )
    _tell(console, "starting Airflow ...")
    with ended_by_signals(), suppress(KeyboardInterrupt), started(home) as parts:
        with suppress(KeyboardInterrupt):
            api = wait_until_up(parts)
            api.make_pools(reading.registry.pools)
            wait_for_dags(api, dags_of(reading))
            begin(api)
            _tell(
                console,
                "",
                f"Airflow is at {home.address}",
                f"the tables are at {home.tables}",
                *_logins(home),
                "",
                hint,
                "Ctrl-C stops it.",
            )
            _watch(console, parts, reading)
        with suppress(OSError):  # the terminal may be gone
            _tell(console, "", "stopping Airflow ...")


def absolute(path: Path) -> Path:
    """The path from the root, with its links: what they lead to may be exchanged while Airflow runs."""
    return Path(os.path.abspath(path))


def _usable(home: AirflowHome) -> Reading:
    reading = _read(home)
    if reading.registry.tables:
        return reading
    if file_mistakes := [mistake for mistake in reading.mistakes if mistake.table is None]:
        raise RegistryError("The registry cannot be used", found="\n".join(map(str, file_mistakes)))
    if not reading.mistakes:
        raise RegistryError(f"Registry {home.registry} declares no table", fix="add one to its section `tables`")
    return reading


def _read(home: AirflowHome) -> Reading:
    return read_registry(home.registry, {**os.environ, **home.variables()})


def _tell_owner(console: Console, home: AirflowHome, owner: Owner) -> None:
    if owner.registry != str(home.registry):
        raise RegistryError(
            f"The Airflow of {home.folder} runs on another registry",
            found=f"{owner.registry} at {owner.address}, started by process {owner.pid}",
            fix=f"`kill {owner.pid}` stops it; or give --home another folder",
        )
    _tell(console, f"Airflow runs already at {owner.address} on {owner.registry}", *_logins(home))
    _tell(console, f"Ctrl-C where it was started, or `kill {owner.pid}`, stops it.")


def _logins(home: AirflowHome) -> Iterator[str]:
    yield from (f"  login {user}, password {password}" for user, password in home.passwords().items())


def _watch(console: Console, parts: Parts, reading: Reading) -> None:
    """Run for ever: print what an edit of the registry brought, and make its new pools."""
    home = parts.home
    stamp = _stamp(home.registry)
    while True:
        time.sleep(_LOOK)
        parts.check()
        if (now := _stamp(home.registry)) == stamp:
            continue
        stamp, before, reading = now, reading, _read(home)
        _tell(console, "", "the registry has changed:", *summary_lines(reading, _today()))
        if reading.registry.pools != before.registry.pools:
            try:
                home.api().make_pools(reading.registry.pools)  # a session of days ago has ended
            except (HoodieError, OSError) as error:
                _tell(console, f"its pools could not be made: {error}")


def _stamp(file: Path) -> _Stamp:
    try:
        result = file.stat()
    except OSError:
        return None
    return result.st_mtime_ns, result.st_size, result.st_ino


def _tell(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


def _today() -> date:
    return datetime.now(UTC).date()
