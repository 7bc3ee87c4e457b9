#!/usr/bin/env bash
# The programs that `make test` uses beside Python. As root on Debian it installs those that are missing; else it names them.
set -euo pipefail

missing=()
need() { # need PACKAGE PROGRAM...: one of the programs must be there
  local package=$1 program
  shift
  for program in "$@"; do command -v "$program" >/dev/null && return; done
  missing+=("$package")
}

need openjdk-17-jdk-headless java # runs Apache Hudi's Spark 3.5 bundle, which the interop tests compare with
need openjdk-17-jdk-headless javac # and compiles what asks Hudi's classes and starts Trino
need maven mvn                    # fetches that bundle
need npm npm                      # fetches a server of Azure's blobs, and scripts of the docs site
need postgresql postgres /usr/lib/postgresql/*/bin/postgres # a snapshot store that watchers share
need mariadb-server mariadbd /usr/sbin/mariadbd # a database whose tables and changes are read
need chromium chromium chromium-browser # the pages of Airflow in a browser
need docker-compose docker-compose # checks docker-compose.yaml; no Docker engine is used

if [ ${#missing[@]} -eq 0 ]; then exit; fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "make test also needs these Debian packages, or what they are called elsewhere: ${missing[*]}" >&2
  exit 1
fi
echo "installing ${missing[*]} ..."
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
