#!/bin/sh
# Make sure that a container engine answers. A running Docker or Podman is used as it is. Else, as root
# on Debian or Ubuntu, Docker is installed and started. Else says what to do and ends with 2.
set -eu

runtime=${XDG_RUNTIME_DIR:-/run/user/$(id -u)}

answers() {
  case $1 in
    unix://*) [ -S "${1#unix://}" ] && curl -fsS -m 5 --unix-socket "${1#unix://}" http://engine/_ping ;;
    tcp://*) curl -fsS -m 5 "http://${1#tcp://}/_ping" ;;
    *) return 1 ;;
  esac >/dev/null 2>&1
}

anyone() {
  for place in "${DOCKER_HOST:-}" unix:///var/run/docker.sock "unix://$runtime/docker.sock" \
    "unix://$runtime/podman/podman.sock" unix:///run/podman/podman.sock; do
    if [ -n "$place" ] && answers "$place"; then return 0; fi
  done
  return 1
}

can_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
    grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release
}

install() {
  wanted=
  command -v curl >/dev/null || wanted="$wanted curl"
  command -v mmdebstrap >/dev/null || wanted="$wanted mmdebstrap"
  if [ "${1:-}" = docker ] && ! command -v dockerd >/dev/null; then
    wanted="$wanted docker.io iptables"
  fi
  [ -z "$wanted" ] && return 0
  echo "installing$wanted" >&2
  apt-get update -qq
  # shellcheck disable=SC2086 - a list of packages
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted \
    ca-certificates >/dev/null
}

start() {
  echo "starting Docker" >&2
  if [ -d /run/systemd/system ]; then systemctl start docker; fi
  if ! answers unix:///var/run/docker.sock; then
    setsid nohup dockerd >/var/log/dockerd.log 2>&1 </dev/null &
  fi
  for _ in $(seq 60); do
    if answers unix:///var/run/docker.sock; then return 0; fi
    sleep 0.5
  done
  echo "Docker does not start; its last words (/var/log/dockerd.log):" >&2
  tail -5 /var/log/dockerd.log >&2 || true
  exit 3
}

if can_install; then install tools; fi
if anyone; then exit 0; fi
if ! can_install; then
  echo "no container engine answers: start Docker or Podman (or set DOCKER_HOST), or run this as" \
    "root on Debian or Ubuntu, where Docker is installed for you" >&2
  exit 2
fi
install docker
start
