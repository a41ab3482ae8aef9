#!/bin/bash
# Carries out a stranger's container definition, step by step, as root in the builder's container.
# usage: build.sh BLOCKS    BLOCKS: most 1024-byte blocks that one file may have
# A step is a folder: tree/ and owner (files to lay down), run, shell, user, cwd, env (what to run).
set -uo pipefail
umask 022
here=/.import
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
most=256 # processes: the builder caps memory, not these

fail() { printf 'step %s: %s\n' "${step##*/}" "$1" >&2; exit 1; }

# Ends everything when a step forks without end. It sleeps on a pipe, so that it needs no process.
watch() {
  exec {quiet}<> <(:)
  while :; do
    read -r -t 0.05 -u "$quiet"
    set -- /proc/[0-9]*
    (($# > most)) && kill -9 -1
  done
}

# New folders and files get the owner; folders that are there stay as they are.
lay() {
  local owner name
  owner=$(<"$step/owner")
  cd "$step/tree" || fail "no tree"
  find . -mindepth 1 -type d -print0 | sort -z | while IFS= read -r -d '' name; do
    [ -d "/$name" ] || { mkdir -m 755 -- "/$name" && chown -- "$owner" "/$name"; } || exit 1
  done || fail "a folder cannot be made"
  find . -type f -print0 | sort -z | while IFS= read -r -d '' name; do
    cp --preserve=mode,timestamps -- "$name" "/$name" && chown -h -- "$owner" "/$name" || exit 1
  done || fail "a file cannot be laid down"
}

carry_out() {
  local user=${1%%:*} group=${1#*:} row home ids=() shell=() variables=()
  mapfile -t shell <"$step/shell"
  mapfile -d '' -t variables <"$step/env"
  row=$(getent passwd "$user") || row="x:x:$user:$user::/:"
  IFS=: read -r _ _ uid gid _ home _ <<<"$row"
  [[ $uid =~ ^[0-9]+$ ]] || fail "there is no user $user"
  [ "$group" = "$1" ] || gid=$(getent group "$group" | cut -d: -f3)
  [ "$uid" = 0 ] || ids=(setpriv "--reuid=$uid" "--regid=$gid" --clear-groups)
  mkdir -p -- "$(<"$step/cwd")" && cd "$(<"$step/cwd")" || fail "its folder cannot be entered"
  # Last in line for the processor and first where memory runs out, so that watch and host survive.
  choom -n 1000 -- nice -n 19 "${ids[@]}" env -i "HOME=$home" "PATH=$path" DEBIAN_FRONTEND=noninteractive \
    SOURCE_DATE_EPOCH=1704067200 PIP_NO_INDEX=1 "PIP_FIND_LINKS=$here/wheels" PIP_NO_COMPILE=1 \
    PIP_BREAK_SYSTEM_PACKAGES=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
    "${variables[@]}" "${shell[@]}" "$step/run" </dev/null || fail "it ended with status $?"
}

ulimit -c 0 -f "$1"
watch 2>/dev/null &
step=prelude
# A stranger's first user has uid 1000, as it would on the image that its maker began with.
userdel agent 2>/dev/null && rm -rf /home/agent || fail "the base has no user of its own"
for step in "$here"/steps/*; do
  if [ -d "$step/tree" ]; then lay; fi
  if [ -f "$step/run" ]; then carry_out "$(<"$step/user")"; fi
done
cd / && rm -rf "$here"
