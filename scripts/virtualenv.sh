#!/bin/sh
# virtualenv.sh PYTHON FOLDER: make a virtualenv; says what to install where Python lacks a part.
set -eu
"$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
  echo "envgen needs Python 3.11 or newer as '$1': install it, or run 'make PYTHON=python3.12 ...'" >&2
  exit 2
}
if ! "$1" -m venv "$2" 2>/dev/null; then
  rm -rf "$2"
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
    "$1" -m venv "$2"
  else
    echo "'$1 -m venv' fails: install the package python3-venv" >&2
    exit 2
  fi
fi
