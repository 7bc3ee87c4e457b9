"""The deployment's files, checked for what can be wrong with them without a Docker engine."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.fernet import Fernet
from sqlalchemy import make_url

from hudi_services.operations.watch.location import store_of
from hudi_services.registry.load import read_registry
from tests.support.scripts import script

PROJECT = Path(__file__).resolve().parents[2]
TEXT = (PROJECT / "docker-compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (PROJECT / "docker" / "Dockerfile").read_text()
# ${NAME:-default} and ${NAME:?message}; $$ is a dollar sign.
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(?::(-|\?)([^}]*))?\}")
USES = [(match[1], match[2], match[3]) for match in VARIABLE.finditer(TEXT)]


HEALTHY, MAKE_ENV, PASSWORDS = (script(f"docker/{name}.py") for name in ("healthy", "make_env", "passwords"))


def _pairs(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


EXAMPLE = _pairs((PROJECT / ".env.example").read_text())


def _versions(lock: str) -> dict[str, str]:
    text = (PROJECT / "requirements" / lock).read_text()
    return {
        f"{name}{mark}": version for name, version, mark in re.findall(r"^(\S+)==(\S+)( ;.*?)?(?: \\)?$", text, re.M)
    }


def _compose() -> list[str]:
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    if shutil.which("docker") and not subprocess.call(["docker", "compose", "version"], stderr=-3, stdout=-3):
        return ["docker", "compose"]
    pytest.fail("docker-compose is missing: tests/needs.sh installs it or says how")


def _config(env_file: Path) -> subprocess.CompletedProcess[str]:
    command = [*_compose(), "--env-file", str(env_file), "-f", str(PROJECT / "docker-compose.yaml"), "config"]
    # Variables of the machine go before those of the file.
    environ = {name: value for name, value in os.environ.items() if name not in EXAMPLE}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


# --- the whole


@pytest.mark.process
def test_compose_accepts_the_file_with_the_generated_environment(tmp_path: Path) -> None:
    env = tmp_path / "env"
    env.write_text(MAKE_ENV.filled((PROJECT / ".env.example").read_text()))
    run = _config(env)
    assert run.returncode == 0, run.stderr
    assert set(yaml.safe_load(run.stdout)["services"]) == set(SERVICES)


@pytest.mark.process
@pytest.mark.parametrize("name", ["POSTGRES_PASSWORD", "S3_SECRET_KEY"])
def test_compose_names_the_secret_that_is_not_set(name: str, tmp_path: Path) -> None:
    env = tmp_path / "env"
    text = MAKE_ENV.filled((PROJECT / ".env.example").read_text())
    env.write_text(re.sub(rf"^{name}=.*$", f"{name}=", text, flags=re.M))
    run = _config(env)
    assert run.returncode != 0
    assert f"set {name} in .env" in run.stderr


# --- variables


def test_every_variable_is_in_the_example_and_no_other() -> None:
    assert {name for name, _, _ in USES} == set(EXAMPLE)


def test_empty_in_the_example_is_required_and_anything_else_is_the_default() -> None:
    for name, sign, text in USES:
        if EXAMPLE[name]:
            assert (sign, text) == ("-", EXAMPLE[name]), name
        else:
            assert sign == "?", name
            assert text.startswith(f"set {name} in .env"), name


# --- services


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_runs_for_ever_and_is_watched_or_runs_once_and_is_waited_for(name: str) -> None:
    service = SERVICES[name]
    if service["restart"] == "no":
        waiting = [other.get("depends_on", {}).get(name, {}).get("condition") for other in SERVICES.values()]
        assert "service_completed_successfully" in waiting
        assert "healthcheck" not in service
    else:
        assert service["restart"] == "unless-stopped"
        assert service["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_waits_for_a_state_that_never_comes(name: str) -> None:
    for other, wait in SERVICES[name].get("depends_on", {}).items():
        once = SERVICES[other]["restart"] == "no"
        assert wait["condition"] == ("service_completed_successfully" if once else "service_healthy")


@pytest.mark.parametrize("name", SERVICES)
def test_pages_are_for_this_machine_only_and_images_have_a_version(name: str) -> None:
    service = SERVICES[name]
    assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", []))
    tag = service["image"].rpartition(":")[2]
    assert tag
    assert "latest" not in tag
    assert "build" in service or re.search(r"\d+\.\d+|RELEASE\.\d", tag)


@pytest.mark.parametrize("name", SERVICES)
def test_containers_keep_their_own_names_so_that_a_lock_of_another_container_is_never_taken_for_dead(name: str) -> None:
    # The table's lock trusts host name + process number; two containers of one host name have the same numbers.
    assert not {"hostname", "container_name", "network_mode", "pid"} & set(SERVICES[name])


def test_volumes_are_declared_and_mounted_folders_are_there() -> None:
    used = set()
    for service in SERVICES.values():
        for mount in service.get("volumes", []):
            if isinstance(mount, dict):
                source = VARIABLE.sub(lambda match: match[3], mount["source"])
                assert (PROJECT / source).is_dir()  # a single file would go stale when git or an editor replaces it
                assert mount["read_only"]
            elif ":" in mount:
                used.add(mount.partition(":")[0])
    assert used == set(COMPOSE["volumes"])


def test_health_checks_ask_for_parts_that_the_script_knows() -> None:
    asked = [
        service["healthcheck"]["test"][-1]
        for service in SERVICES.values()
        if "build" in service and "healthcheck" in service
    ]
    assert sorted(asked) == sorted(HEALTHY.PARTS)


# --- the image


def _copied() -> list[tuple[list[str], str]]:
    """Sources and target of each COPY from the project."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.M)
    return [(parts[:-1], parts[-1]) for parts in (line.split() for line in lines)]


def test_copied_files_are_there_and_reach_the_builder() -> None:
    allowed = [line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    sources = [source for group, _ in _copied() for source in group]
    assert sorted(sources) == sorted(allowed)
    assert all((PROJECT / source).exists() for source in sources)


def test_files_that_commands_name_are_in_the_image() -> None:
    named = set(re.findall(r"/opt/hudi/(docker/\w+\.py)", TEXT))
    assert named == {"docker/healthy.py", "docker/passwords.py"}
    assert named <= {source for group, _ in _copied() for source in group}
    assert {"plugins", "hudi_services", "spark_apps", "dags"} <= {target for _, target in _copied()}


def test_the_image_has_the_versions_that_are_tested() -> None:
    image, tested = _versions("image.lock"), _versions("dev.lock")
    assert {name: version for name, version in image.items() if version != tested.get(name, version)} == {}
    assert {"apache-airflow", "pyspark", "s3fs", "psycopg2-binary", "asyncpg"} <= set(image)
    assert image["pyspark"] == image["pyspark-client"]
    text = (PROJECT / "docs" / "how-to" / "deployment.md").read_text()
    assert f"Airflow {image['apache-airflow']}" in text
    assert f"Spark {image['pyspark']}" in text


def test_the_image_runs_the_oldest_python_that_the_project_supports_on_the_last_debian_with_java_17() -> None:
    python = re.search(r'requires-python = ">=(\d+\.\d+)"', (PROJECT / "pyproject.toml").read_text())
    assert python is not None
    assert f"ARG PYTHON=python:{python[1]}-slim-bookworm" in DOCKERFILE
    assert "openjdk-17-jre-headless" in DOCKERFILE


def test_git_never_takes_the_secrets() -> None:
    assert ".env" in (PROJECT / ".gitignore").read_text().splitlines()


# --- settings


def _airflow_settings() -> dict[str, Any]:
    found = importlib.util.find_spec("airflow")  # not imported: that would make a configuration in the home folder
    assert found is not None
    folder = Path(found.submodule_search_locations[0])  # type: ignore[index]
    settings: dict[str, Any] = yaml.safe_load((folder / "config_templates" / "config.yml").read_text())
    return settings


def test_airflow_has_the_settings() -> None:
    known = _airflow_settings()
    names = set(re.findall(r"AIRFLOW__([A-Z_]+?)__([A-Z_]+)\b", TEXT + DOCKERFILE))
    assert len(names) > 10
    assert [name for name in names if name[1].lower() not in known[name[0].lower()]["options"]] == []


def test_addresses_name_services() -> None:
    defaults = (PROJECT / "docker" / "spark" / "spark-defaults.conf").read_text()
    values = dict(line.split(None, 1) for line in defaults.splitlines() if line and not line.startswith("#"))
    assert values["spark.driver.host"] in SERVICES
    environment = SERVICES["airflow-scheduler"]["environment"]
    connection = json.loads(environment["AIRFLOW_CONN_SPARK_DEFAULT"])
    master = f"{connection['host']}:{connection['port']}"
    assert master == SERVICES["spark-worker"]["command"][-1] == HEALTHY.PARTS["spark-worker"][2]
    hosts = set(re.findall(r"(?:://|@)([a-z][a-z-]+):\d", TEXT + (PROJECT / "docker" / "healthy.py").read_text()))
    assert hosts <= set(SERVICES)
    registry = yaml.safe_load((PROJECT / "docker" / "registry" / "tables.yaml").read_text())
    assert registry["pools"]["hudi"] * int(values["spark.cores.max"]) <= int(EXAMPLE["SPARK_WORKER_CORES"])


@pytest.mark.parametrize("name", [name for name in SERVICES if name.startswith("airflow") or name == "spark-worker"])
def test_drivers_and_executors_reach_the_same_lake_with_the_same_secret(name: str) -> None:
    shared = {**COMPOSE["x-lake"], **COMPOSE["x-spark"]}
    assert shared.items() <= SERVICES[name]["environment"].items()


def test_the_registry_of_the_deployment_has_no_mistakes() -> None:
    file = PROJECT / "docker" / "registry" / "tables.yaml"
    environment = COMPOSE["x-airflow"]["environment"]
    snapshots = VARIABLE.sub("w", environment["HUDI_SNAPSHOTS"])
    reading = read_registry(file, environ={**EXAMPLE, "HUDI_SNAPSHOTS": snapshots})
    assert list(reading.mistakes) == []
    assert make_url(store_of(reading.registry)).get_driver_name() == "psycopg2"
    assert "psycopg2-binary" in _versions("image.lock")
    assert environment["HUDI_SNAPSHOTS"] == environment["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]
    assert [table.base_path for table in reading.registry.tables] == ["s3://lake/flights"]


# --- the scripts


def test_the_generated_environment_has_secrets_that_its_users_accept(tmp_path: Path) -> None:
    shutil.copy(PROJECT / ".env.example", tmp_path)
    assert MAKE_ENV.main(tmp_path) is None
    made = tmp_path / ".env"
    values = _pairs(made.read_text())
    secrets = {name: value for name, value in values.items() if not EXAMPLE[name]}
    assert {name: value for name, value in values.items() if EXAMPLE[name]} == {k: v for k, v in EXAMPLE.items() if v}
    assert len(set(secrets.values())) == len(secrets)
    assert all(len(value) >= 40 for value in secrets.values())
    assert re.fullmatch(r"[\w-]{40}", values["POSTGRES_PASSWORD"])  # goes into a URL as it is
    Fernet(values["AIRFLOW_FERNET_KEY"])
    assert made.stat().st_mode & 0o777 == 0o600


def test_secrets_in_use_are_not_replaced(tmp_path: Path) -> None:
    shutil.copy(PROJECT / ".env.example", tmp_path)
    (tmp_path / ".env").write_text("mine")
    assert "is there already" in MAKE_ENV.main(tmp_path)
    assert (tmp_path / ".env").read_text() == "mine"


def _users(tmp_path: Path, **passwords: str) -> dict[str, str]:
    environment = SERVICES["airflow-init"]["environment"]
    prefix = "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_"
    return {
        f"{prefix}USERS": environment[f"{prefix}USERS"],
        f"{prefix}PASSWORDS_FILE": str(tmp_path / "passwords.json"),
        **{f"AIRFLOW_{user.upper()}_PASSWORD": password for user, password in passwords.items()},
    }


def test_passwords_of_all_users_are_written_for_the_owner_only(tmp_path: Path) -> None:
    (tmp_path / "passwords.json").write_text('{"admin": "old", "gone": "x"}')
    assert PASSWORDS.main(_users(tmp_path, admin="a", viewer="v")) is None
    assert json.loads((tmp_path / "passwords.json").read_text()) == {"admin": "a", "viewer": "v"}
    assert (tmp_path / "passwords.json").stat().st_mode & 0o777 == 0o600


def test_a_user_without_a_password_is_named(tmp_path: Path) -> None:
    assert "viewer" in PASSWORDS.main(_users(tmp_path, admin="a"))
    assert not (tmp_path / "passwords.json").exists()


@pytest.fixture
def page() -> Iterator[tuple[str, dict[str, Any]]]:
    """Address of a server and what it answers."""
    answer: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answer["status"])
            self.end_headers()
            self.wfile.write(answer["body"].encode())

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", answer
        server.shutdown()


@pytest.mark.parametrize(
    ("part", "status", "body", "well"),
    [
        ("triggerer", 200, {"triggerer": {"status": "healthy"}}, True),
        ("triggerer", 200, {"triggerer": {"status": "unhealthy"}}, False),
        ("triggerer", 200, {"triggerer": None}, False),
        ("spark-worker", 200, {"masterurl": "spark://spark-master:7077"}, True),
        ("spark-worker", 200, {"masterurl": ""}, False),
        ("scheduler", 200, "", True),
        ("scheduler", 503, "", False),
        ("apiserver", 200, "<html>", False),
    ],
)
def test_health(
    part: str, status: int, body: Any, well: bool, page: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, answer = page
    answer.update(status=status, body=body if isinstance(body, str) else json.dumps(body))
    monkeypatch.setitem(HEALTHY.PARTS, part, (address, *HEALTHY.PARTS[part][1:]))
    assert (HEALTHY.trouble(part) is None) == well


def test_a_part_that_does_not_answer_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HEALTHY.PARTS, "scheduler", ("http://127.0.0.1:1/", (), None))
    assert "refused" in HEALTHY.trouble("scheduler")
