"""The home of an embedded Airflow: who holds it, its settings, and its processes."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from dataclasses import replace
from importlib import metadata
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from hoodie.errors import ConfigError, MachineError, RegistryError
from hudi_services.local_airflow import home as homes
from hudi_services.local_airflow import launcher as serving
from hudi_services.local_airflow.home import MARK, AirflowHome
from hudi_services.local_airflow.owner import AlreadyRunningError, check_free, find_owner, owned
from hudi_services.local_airflow.ports import is_free
from hudi_services.local_airflow.processes import processes_of, stop
from hudi_services.runtime.folders import PROJECT

REGISTRY = "tables:\n  - {name: t, base_path: /lake/t}\n"


@pytest.fixture
def home(tmp_path: Path) -> AirflowHome:
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY)
    made = AirflowHome(tmp_path / "home", file)
    made.make()
    return made


@pytest.fixture
def console() -> Console:
    return Console(file=StringIO(), width=200)


def said(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_settings_of_another_airflow_stay_outside_but_connections_come_along(
    home: AirflowHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTOR", "CeleryExecutor")
    monkeypatch.setenv("AIRFLOW_HOME", "/other")
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", "spark://lake")
    given = home.environment()
    assert given["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
    assert given["AIRFLOW_HOME"] == str(home.folder / "airflow")
    assert given["AIRFLOW_CONN_LAKE"] == "spark://lake"
    assert "local[2]" in given["AIRFLOW_CONN_SPARK_DEFAULT"]
    assert given["HUDI_REGISTRY"] == str(home.registry)
    assert given["AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION"] == "False"
    assert given["AIRFLOW__DATABASE__CHECK_MIGRATIONS"] == "False"
    monkeypatch.setenv("NO_PROXY", "example.org")
    assert home.environment()["no_proxy"] == "example.org,127.0.0.1,localhost", "the lake may need the proxy"
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", "spark://cluster")
    assert home.environment()["AIRFLOW_CONN_SPARK_DEFAULT"] == "spark://cluster"


def test_passwords_are_kept_for_their_owner_and_out_of_git(home: AirflowHome) -> None:
    assert home.passwords() == home.passwords()
    assert stat.S_IMODE((home.folder / "passwords.json").stat().st_mode) == 0o600
    assert (home.folder / ".gitignore").read_text() == "*\n"


def test_a_path_that_means_something_in_a_database_s_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="home cannot be"):
        AirflowHome(tmp_path / "what?", tmp_path / "tables.yaml").make()


@pytest.mark.parametrize("place", ["tables.yaml/home", "/proc/nowhere", "home"])
def test_a_home_that_cannot_be_made_or_written_is_told(
    home: AirflowHome, console: Console, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homes.os, "access", lambda _path, _mode: False)  # root may write everywhere
    folder = home.folder.parent / place
    with pytest.raises(ConfigError, match=rf"home cannot be {folder}\. Found: .+\. To do: give --home another folder"):
        serving.serve(console, replace(home, folder=folder))


def test_without_airflow_the_extra_is_named(
    home: AirflowHome, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(homes.metadata, "version", version)
    with pytest.raises(MachineError, match=r"apache-airflow.*pip install 'hudi-table-services\[airflow\]'"):
        serving.serve(console, home)


def test_a_second_start_is_told_where_the_first_is(home: AirflowHome, console: Console) -> None:
    with owned(home.folder, "http://127.0.0.1:8080", home.registry):
        with pytest.raises(AlreadyRunningError, match="8080"), owned(home.folder, "http://127.0.0.1:1", home.registry):
            pass
        with pytest.raises(AlreadyRunningError):
            check_free(home.folder)
        serving.serve(console, home)
        assert f"Airflow runs already at http://127.0.0.1:8080 on {home.registry}" in said(console)
        assert f"kill {os.getpid()}" in said(console)
        assert home.passwords()["admin"] in said(console)
        other = AirflowHome(home.folder, home.registry.with_name("other.yaml"))
        with pytest.raises(RegistryError, match="another registry"):
            serving.serve(console, other)
    assert find_owner(home.folder) is None
    check_free(home.folder)


@pytest.mark.process
def test_a_home_whose_holder_was_killed_is_free(home: AirflowHome) -> None:
    program = """
    import sys, time
    from pathlib import Path
    from hudi_services.local_airflow.owner import owned
    with owned(Path(sys.argv[1]), "http://there", Path("/tables.yaml")):
        print("held", flush=True)
        time.sleep(60)
    """
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}"}
    command = [sys.executable, "-c", textwrap.dedent(program), str(home.folder)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        found = find_owner(home.folder)
        assert found is not None
        assert (found.pid, found.address) == (holder.pid, "http://there")
        holder.kill()
    assert find_owner(home.folder) is None
    with owned(home.folder, "http://here", home.registry):
        assert find_owner(home.folder) is not None


def test_a_port_in_use_is_told(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        with pytest.raises(MachineError, match=f"Port {port} is in use"):
            serving.chosen_ports(console, port)
        monkeypatch.setattr(serving, "PORT", port)
        page, *_ = serving.chosen_ports(console, None)
        assert page != port
        assert f"port {port} is in use: Airflow's pages get port {page}" in said(console)


@pytest.mark.parametrize(
    ("text", "found"), [("tables: [", "cannot be used"), ("tables: []", "no table"), (None, "cannot be read")]
)
def test_a_registry_without_any_table_does_not_start_airflow(
    home: AirflowHome, console: Console, text: str | None, found: str
) -> None:
    home.registry.unlink() if text is None else home.registry.write_text(text)
    with pytest.raises(RegistryError, match=found):
        serving.serve(console, home)


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
os.write(1, b"up\\n")
time.sleep(600)
"""


@pytest.mark.process
def test_processes_of_a_home_end_whatever_session_they_are_in(home: AirflowHome) -> None:
    """A task has a group of its own, its Spark another; some do not listen to SIGTERM."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    environment = {**os.environ, MARK: str(home.folder)}
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() + process.stdout.readline() == "up\nup\n"
        assert len(processes_of(home.folder)) == 2
        stop(home.folder, grace=0.5)
        assert processes_of(home.folder) == []
    assert other.poll() is None, "another's process goes on"
    other.kill()
    other.wait()


ENDING = """
import signal, sys, time
from contextlib import suppress
from hudi_services.local_airflow.signals import ended_by_signals
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore both
signal.signal(signal.SIGINT, signal.default_int_handler)
with ended_by_signals(), suppress(KeyboardInterrupt):
    try:
        print("up", flush=True)
        time.sleep(60)
    finally:
        print("stopping", flush=True)
        time.sleep(1)
        print("stopped", flush=True)
"""


@pytest.mark.process
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_once(sign: signal.Signals) -> None:
    """A second Ctrl-C, while processes are being stopped, would leave some of them."""
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}"}
    with subprocess.Popen(
        [sys.executable, "-c", ENDING], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(sign)
        assert process.stdout.readline() == "stopping\n"
        process.send_signal(sign)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "stopped\n"
    assert process.returncode == 0


@pytest.mark.process
def test_nohup_is_obeyed() -> None:
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT / 'plugins'}{os.pathsep}{PROJECT}"}
    command = ENDING.replace("signal.SIG_DFL", "signal.SIG_IGN").replace(
        "time.sleep(60)", "print(sys.stdin.readline(), flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", command], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as it:
        assert it.stdin is not None
        assert it.stdout is not None
        assert it.stdout.readline() == "up\n"
        it.send_signal(signal.SIGHUP)
        it.stdin.write("it goes on")
        it.stdin.close()
        assert it.stdout.read() == "it goes on\nstopping\nstopped\n"


def test_a_database_is_migrated_once_by_each_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, releases = AirflowHome(tmp_path, tmp_path / "tables.yaml"), []

    def migrate(_home: AirflowHome, *_arguments: str) -> None:
        home.database.touch()
        releases.append(metadata.version("apache-airflow"))
        if releases[-1] == "3.5.0":
            raise MachineError("no space")

    monkeypatch.setattr(AirflowHome, "command", migrate)
    monkeypatch.setattr(homes.metadata, "version", lambda _name: "3.3.2")
    home.migrate()
    home.migrate()
    assert releases == ["3.3.2"]
    home.database.unlink()
    home.migrate()
    monkeypatch.setattr(homes.metadata, "version", lambda _name: "3.4.0")
    home.migrate()
    home.migrate()
    assert releases == ["3.3.2", "3.3.2", "3.4.0"]
    monkeypatch.setattr(homes.metadata, "version", lambda _name: "3.5.0")
    with pytest.raises(MachineError, match="no space"):
        home.migrate()
    monkeypatch.setattr(homes.metadata, "version", lambda _name: "3.4.0")
    home.migrate()
    assert releases == ["3.3.2", "3.3.2", "3.4.0", "3.5.0", "3.4.0"], "a migration that failed may have changed it"
