#!/bin/sh
# Print the path of a container registry's program: the one that is installed; else, as root on Debian or
# Ubuntu, Debian's is unpacked below FOLDER (nothing is installed, no service starts). Else says what to
# do and ends with 2.
#   scripts/registry.sh FOLDER
set -eu
folder=$1

if command -v docker-registry; then exit 0; fi
found=$folder/usr/bin/docker-registry
if [ -x "$found" ]; then
  echo "$found"
  exit 0
fi
if ! { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; }; then
  echo "no registry to test with: install docker-registry, or run this as root on Debian or Ubuntu" >&2
  exit 2
fi
mkdir -p "$folder"
cd "$folder"
apt-get download -qq docker-registry >/dev/null 2>&1 ||
  { apt-get update -qq && apt-get download -qq docker-registry; } >&2
dpkg-deb -x docker-registry_*.deb .
echo "$found"
