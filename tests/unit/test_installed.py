"""The wheel in an environment that has nothing else: what `pip install` gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hoodie
import hudi_services
from hudi_services.cli.program import cli
from tests.support.archives import ROOT, build_wheel

pytestmark = pytest.mark.process

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Calls the installed program, as a user who has no checkout: its exit code, output and errors."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = build_wheel(folder / "dist")
    uv, python = Path(sys.executable).with_name("uv"), folder / "venv" / "bin" / "python"
    subprocess.run([uv, "venv", "-q", "-p", sys.executable, folder / "venv"], check=True, timeout=60)
    subprocess.run([uv, "pip", "install", "-q", "-p", python, wheel], check=True, timeout=120)

    def call(*arguments: str, python_code: str | None = None) -> subprocess.CompletedProcess[str]:
        command = (
            [str(python), "-c", python_code] if python_code else [str(python.with_name("hudi-services")), *arguments]
        )
        environment = {"PATH": os.defpath, "HOME": str(folder)}
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    return call


def test_the_program_says_its_version(program):
    assert program("--version").stdout == f"hudi-services, version {hudi_services.__version__}\n"


def test_every_command_has_its_help(program):
    """In one process: each would load Python again."""
    code = (
        "import click\nfrom hudi_services.cli.program import cli, main\n"
        "def walk(group, path):\n"
        "    for name, command in group.commands.items():\n"
        "        assert main([*path, name, '--help']) == 0, name\n"
        "        if isinstance(command, click.Group): walk(command, [*path, name])\n"
        "walk(cli, [])\n"
    )
    done = program(python_code=code)
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"Usage: hudi-services (\S+)", done.stdout)) == set(cli.commands)


def test_a_small_table_is_loaded_looked_at_and_cleaned(program, tmp_path):
    """In one process: the start of Python takes the time."""
    (tmp_path / "land").mkdir()
    registry = tmp_path / "tables.yaml"
    registry.write_text(
        f"tables:\n  - name: orders\n    base_path: {tmp_path}/orders\n    keys: {{record_key: id, ordering: at}}\n"
        f"    source: {{path: {tmp_path}/land, format: csv}}\n    clean: {{hoodie: {{hoodie.clean.commits.retained: 1}}}}\n"
    )
    flags = ["--table", "orders", "--registry", str(registry)]
    ingest = ["ingest", *flags, "--local-up-to=1"]
    others = [["show", "table", *flags, "--json"], ["clean", *flags], ["registry", "check", str(registry)]]
    code = (
        "from pathlib import Path\nfrom hudi_services.cli.program import main\n"
        "def run(command): print('==', main(command), flush=True)\n"
        "for day in (1, 2, 3):\n"
        f"    Path({str(tmp_path)!r}, 'land', f'{{day}}.csv').write_text(f'id,at,total\\n7,2026-01-0{{day}},{{day}}.50\\n')\n"
        f"    run({ingest})\n"
        f"for command in {others}: run(command)\n"
    )
    done = program(python_code=code)
    *shown, end = done.stdout.split("== 0\n")
    assert (len(shown), end) == (6, ""), done.stderr
    assert all("threads of this process, as Spark is not installed" in text for text in shown[:3])
    assert json.loads(shown[3])["rows_in_base_files"] == 1
    assert "1 file removed" in shown[4]


def test_what_is_missing_is_named_with_its_extra(program):
    """In one process: the start of Python takes the time."""
    asked = {
        "spark": ["clean", "--target-base-path=/nowhere", "--engine=spark"],
        "s3": ["show", "table", "--target-base-path=s3://lake/orders"],
        "gcs": ["show", "table", "--target-base-path=gs://lake/orders"],
        "azure": ["show", "table", "--target-base-path=abfs://lake/orders"],
    }
    code = (
        "import sys\nfrom hudi_services.cli.program import main\n"
        f"for extra, arguments in {asked}.items():\n"
        "    code = main(arguments)\n"
        "    print(f'== {extra} {code}', file=sys.stderr, flush=True)\n"
    )
    done = program(python_code=code)
    assert done.returncode == 0, done.stderr
    *told, _ = re.split(r"^== (.*)\n", done.stderr, flags=re.M)
    assert len(told) == 2 * len(asked)
    for extra, text, ended in zip(asked, told[::2], told[1::2], strict=True):
        assert ended in (f"{extra} 1", f"{extra} 2")
        assert f"pip install 'hudi-table-services[{extra}]'" in text
    assert "Traceback" not in done.stderr


def test_hive_sync_names_its_extra(program, tmp_path):
    """In one process: the start of Python takes the time."""
    (tmp_path / "x.csv").write_text("id\n1\n")
    flags = [f"--target-base-path={tmp_path}/t", "--hoodie-conf=hoodie.table.name=t"]
    key = "--hoodie-conf=hoodie.table.recordkey.fields=id"
    ingest = ["ingest", *flags, key, f"--source-path={tmp_path}", "--source-format=csv"]
    syncs = [["sync", flags[0], f"--hoodie-conf=hoodie.datasource.hive_sync.mode={mode}"] for mode in ("hms", "jdbc")]
    code = (
        "import sys\nfrom hudi_services.cli.program import main\n"
        f"for command in {[ingest, *syncs]}:\n"
        "    print('==', main(command), file=sys.stderr, flush=True)\n"
    )
    done = program(python_code=code)
    load, *outputs, end = re.split(r"^== \d\n", done.stderr, flags=re.M)
    assert (done.stderr.startswith(f"{load}== 0\n"), len(outputs), end) == (True, 2, ""), done.stderr
    for text in outputs:
        assert "pip install 'hudi-table-services[hive]'" in text


def test_bash_completes_it(program, tmp_path):
    """Complete a command, as when a user has typed `hudi-services cle` and presses the tab key."""
    script = program("completion", "bash").stdout
    typed = 'PATH="$1:$PATH"; COMP_WORDS=(hudi-services cle); COMP_CWORD=1; _hudi_services_completion hudi-services\n'
    typed += 'echo "${COMPREPLY[@]}"'
    folder = program(python_code="import sys, pathlib; print(pathlib.Path(sys.executable).parent)").stdout.strip()
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{typed}", "bash", folder], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.strip() == "clean", done.stderr


def test_airflow_names_its_extra(program, tmp_path):
    (tmp_path / "tables.yaml").write_text("tables: [{name: t, base_path: /t}]\n")
    done = program("airflow", "--registry", str(tmp_path / "tables.yaml"))
    assert done.returncode == 1
    assert "pip install 'hudi-table-services[airflow]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_files_for_airflow_and_spark_submit_come_along(program):
    files = {"dags": "hudi_ingest.py", "spark-apps": "cleaner.py", "spark-conf": "log4j2.properties"}
    code = "from hudi_services.cli.program import main\n"
    code += "".join(f"main(['folder', '{which}'])\n" for which in files)
    folders = map(Path, program(python_code=code).stdout.split())
    for folder, file in zip(folders, files.values(), strict=True):
        assert (folder / file).is_file()
        assert "site-packages" in folder.parts


def test_every_extra_that_a_message_names_exists():
    sources = [*Path(hoodie.__file__).parent.rglob("*.py"), *Path(hudi_services.__file__).parent.rglob("*.py")]
    text = "\n".join(path.read_text() for path in sources)
    named = set(re.findall(r"hudi-table-services\[(\w+)\]", text)) | set(re.findall(r'missing_extra\(\s*"(\w+)"', text))
    assert {"spark", "hive"} <= named <= set(EXTRAS)
    assert set(re.search(r"\[(.*)\]", EXTRAS["all"][0])[1].split(",")) == set(EXTRAS) - {"all"}
