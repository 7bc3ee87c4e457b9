#!/usr/bin/env bash
# The check before a commit, which `make hooks` installs: what `make lint` checks, of the staged files. Types and imports are
# checked as a whole, from their caches.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
export PYTHONPATH="$PWD/plugins:$PWD"
mapfile -t staged < <(git diff --cached --name-only --diff-filter=ACMR)
if [ ${#staged[@]} -eq 0 ]; then exit; fi
mapfile -t python < <(printf '%s\n' "${staged[@]}" | grep '\.py$' || true)
if [ ${#python[@]} -gt 0 ]; then
  .venv/bin/ruff check -q "${python[@]}"
  .venv/bin/ruff format -q --check "${python[@]}"
  .venv/bin/mypy plugins/hoodie plugins/hoodie_airflow hudi_services benchmarks
  .venv/bin/lint-imports >/dev/null || .venv/bin/lint-imports
fi
.venv/bin/python -m tests.plain_english --files "${staged[@]}"
