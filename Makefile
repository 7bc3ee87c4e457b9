# The commands of this project. Each sets up what it needs first; `make help` lists them.
PYTHON ?= python3
VENV := .venv/bin
export PYTHONPATH := $(CURDIR)/plugins:$(CURDIR)
PYTEST := $(VENV)/python -m pytest
SITE := NO_MKDOCS_2_WARNING=1 $(VENV)/python -m mkdocs
# What Python and pytest compile is kept, also where an image forbids it: else each run rewrites the assertions of all tests anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-stream demo-database airflow needs class-archive lint-and-peer test test-deep durations hunt mutants hooks quick lint unit histories process crash simulate load kill-matrix golden spark cluster interop recordings e2e bench screenshots cli-docs package release docs docs-serve tour lock peer clean

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 12

setup: ## make .venv from the hashed lock file (every other command does this itself)
	@$(PYTHON) requirements/make_venv.py

demo: class-archive ## load 5 days of real flights with Airflow and Spark into a Hudi table, update and clean it (DAYS=5)
	@$(VENV)/python -m hudi_services.demo run --days $(or $(DAYS),5)

demo-stream: class-archive ## join two streams, feed three tables by each other's changes, kill the driver, compare (RATE=2000)
	@$(VENV)/python -m hudi_services.demo stream $(if $(RATE),--rate $(RATE))

demo-database: setup ## load two databases of a MariaDB server by nine lines of SQL, follow changes, compare all rows (TABLES=60, ROWS=1000)
	@exec $(VENV)/python -m hudi_services.demo database $(if $(TABLES),--tables $(TABLES)) $(if $(ROWS),--rows $(ROWS))

airflow: class-archive ## Airflow left running on your tables (REGISTRY=my.yaml, or the variable HUDI_REGISTRY), else on those of the demo
	@exec $(VENV)/python -m $(if $(REGISTRY)$(HUDI_REGISTRY),hudi_services airflow --registry "$(or $(REGISTRY),$(HUDI_REGISTRY))",hudi_services.demo serve) \
		$(if $(PORT),--port $(PORT))

needs:
	@tests/needs.sh

class-archive: setup ## an archive of Spark's classes, with which each JVM of Spark starts in half the time (demo and airflow make it, too)
	@$(VENV)/python -m hudi_services.runtime.spark

lint-and-peer: # at once: one computes while the other fetches
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint peer class-archive

test: needs lint-and-peer ## everything that CI checks (SUITES="crash golden" for some of it)
	@$(VENV)/python -m tests.runner $(SUITES)

test-deep: needs lint-and-peer ## that, and the tests marked deep: all cells of each matrix, all servers, all statements of SQL
	@SQL_CASES=all $(VENV)/python -m tests.runner --deep $(SUITES)

durations: ## what the suites and the slowest tests of the last `make test` cost
	@cat build/tests/durations.md 2>/dev/null || { echo "no durations yet: run make test" >&2; exit 1; }

hunt: setup ## property tests, histories, the simulation and kills with fresh seeds, until a fault is found or the time is over (MINUTES=30)
	@$(VENV)/python -m tests.runner.hunt --minutes $(or $(MINUTES),30) $(ARGS)

mutants: setup ## small faults of tests/mutants.yaml that the tests must find, 20 minutes (ARGS="restore-oldest-first --jobs 2")
	@$(VENV)/python -m tests.mutants $(ARGS)

hooks: setup ## make Git check the staged files before each commit
	@install -m 755 tests/pre-commit.sh "$$(git rev-parse --git-path hooks)/pre-commit"

quick: lint ## what to run before each commit: lint, the unit tests nearest to what changed, and a sample of the others
	@$(VENV)/python -m tests.runner.quick $(ARGS)

lint: setup ## style, types, import rules and plain English
	$(VENV)/ruff check
	$(VENV)/ruff format --check
	$(VENV)/mypy plugins/hoodie plugins/hoodie_airflow hudi_services benchmarks
	$(VENV)/lint-imports
	$(VENV)/python -m tests.plain_english

unit: setup ## tests of single parts, inside the process of the test
	$(PYTEST) -n 2 -m "not process and not histories" --ignore tests/unit/hoodie_airflow tests/unit $(ARGS)

histories: setup ## random histories of whole tables, each step compared with a model
	$(PYTEST) -n 2 -m histories --ignore tests/unit/hoodie_airflow tests/unit $(ARGS)

process: setup ## tests of single parts that load Airflow or start programs: archives, an S3 server, the command line's exit
	$(PYTEST) -n 2 -m process tests/unit $(ARGS)

crash: setup ## killed or out of disk at every storage call of a write, a clean, a compaction
	$(PYTEST) -n 2 tests/crash $(ARGS)

simulate: setup ## many processes at one table, drawn from seeds and killed at any call (SEEDS=21300 for a million histories)
	$(if $(SEEDS),SEEDS=$(SEEDS) )$(PYTEST) -n 2 tests/simulation $(ARGS)

load: setup ## writers, services and readers in processes that are killed at random, for 10 seconds (SECONDS=600)
	SECONDS=$(SECONDS) $(PYTEST) -s tests/load $(ARGS)

kill-matrix: peer ## each action killed at each storage call; who carries on is us, then Hudi; into docs/contributing/reliability.md (EVERY=3 HUDI=3 ONLY=restore SAMPLED=1)
	@$(VENV)/python -m tests.kills.matrix

golden: setup ## tables that Apache Hudi wrote are read right
	$(PYTEST) tests/golden $(ARGS)

spark: class-archive ## the library on a Spark session
	$(PYTEST) tests/spark $(ARGS)

cluster: class-archive ## a Spark cluster of two workers and an S3 server: writes, services, queries, killed executors, spark-submit
	$(PYTEST) tests/cluster $(ARGS)

peer: setup ## Apache Hudi's own Spark bundle in .peer/, which interop and bench compare with
	@$(VENV)/python -m tests.interop.peer_env

interop: peer ## Apache Hudi and hudi-rs read and write what we write
	$(PYTEST) -n 2 --dist loadscope --no-loadscope-reorder tests/interop $(ARGS)

recordings: peer ## ask Hudi again what the tests of interop have recordings of (ARGS="tests/interop/test_inserts.py")
	RECORD=1 $(PYTEST) $(or $(ARGS),-n 2 tests/interop)

e2e: peer class-archive ## the demo, then a real Airflow scheduler, spark-submit and a browser
	$(PYTEST) tests/e2e $(ARGS)

bench: peer ## the same work here, on Apache Hudi's bundle and with delta-rs, as ratios (WORKS="trips wide wide-mor delta", ROWS=2000000)
	@$(VENV)/python -m benchmarks.bench $(WORKS) $(if $(ROWS),--rows $(ROWS))

screenshots: setup ## the pictures of the README, from what `make demo` left
	@$(VENV)/python docs/make_screenshots.py

cli-docs: setup ## docs/reference/cli.md from the help of the commands, docs/reference/procedures.md from the procedures of SQL
	@$(VENV)/python docs/make_cli.py
	@$(VENV)/python docs/make_procedures.py

package: setup ## the library as a wheel and as an archive for spark-submit --py-files, in dist/: the same bytes from the same commit
	@rm -rf dist && $(VENV)/python -m hatchling build -t wheel -d dist
	@for wheel in dist/*.whl; do cp $$wheel $${wheel%-py3-none-any.whl}.zip; done

release: ## the tagged version in dist/: wheel, sdist, archive, checksums and a software bill of materials
	@python3 requirements/check_tag.py
	@$(MAKE) package
	@$(VENV)/python -m hatchling build -t sdist -d dist
	@$(VENV)/uv tool run --with-requirements requirements/release.lock --from cyclonedx-bom cyclonedx-py requirements requirements/image.lock \
		--pyproject pyproject.toml --output-reproducible -o dist/bom.json
	@cd dist && sha256sum -- *.whl *.zip *.tar.gz bom.json > SHA256SUMS && cat SHA256SUMS

docs: setup ## the docs site, with the reference of the Python library, in build/site: a broken link fails
	@$(SITE) build
	@echo "open build/site/index.html"

docs-serve: setup ## the docs site on http://127.0.0.1:8000, built again whenever you save a page
	@$(SITE) serve

tour: setup ## run the notebook docs/get-started/tour.ipynb and write what its cells show
	@$(VENV)/python docs/make_tour.py

lock: setup ## compile requirements/*.in into hashed lock files
	@for name in dev peer image trino readers clickhouse release debezium; do $(VENV)/uv pip compile requirements/$$name.in --universal --python-version 3.11 \
		--generate-hashes --no-header --no-emit-index-url -q -o requirements/$$name.lock; done
	@$(VENV)/uv pip compile requirements/lance.in --universal --python-version 3.11 --no-deps \
		--generate-hashes --no-header --no-emit-index-url -q -o requirements/lance.lock

clean: ## remove what the commands made, but not .venv and .peer
	rm -rf .demo .airflow build dist spark-warehouse metastore_db derby.log
