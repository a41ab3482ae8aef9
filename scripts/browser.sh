#!/usr/bin/env bash
# A browser for the tests of pages: one that is installed, or Debian's Chromium (root on Debian; Ubuntu's
# package is a snap, and its CI images have Chrome).
set -euo pipefail
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "the tests of pages need a browser: install chromium" >&2
  exit 2
fi
echo "installing chromium" >&2
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium \
  fonts-liberation >/dev/null
