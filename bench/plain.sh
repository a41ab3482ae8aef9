#!/bin/bash
# The gates as a shell loop over exported task folders, one after the other:
#   plain.sh FOLDER     (drafts/SLUG/, drafts/SLUG.limits, agent.env, root.env)
# Writes one line a task to FOLDER/plain.txt: slug, ok or the gate that failed, bytes over the base.
set -u
shopt -s lastpipe
here=$(dirname "$(realpath "$0")")
place=$(realpath "$1")
box="--network none --init --hostname sandbox --add-host sandbox:127.0.0.1 --cap-drop ALL
  --security-opt no-new-privileges --shm-size 64m --ulimit core=0:0 --log-driver none"
grader="--user 0:0 --env-file $place/root.env --cap-add CHOWN --cap-add DAC_OVERRIDE
  --cap-add FOWNER --cap-add KILL --cap-add SETGID --cap-add SETUID"
restore='for d in "$@"; do rm -rf -- "$d"; mkdir -p -- "$(dirname -- "$d")"; mv -T -- "/.outputs$d" "$d"; done
  rm -rf /.outputs; exec /bin/bash /tests/test.sh'

run() { # run SECONDS CONTAINER: start it, wait, keep its exit code
  timeout "$1" docker start -a "$2" >/dev/null 2>&1
}

grade() { # grade NAME WITH_OUTPUTS EXTRA...: reward and report to $work/NAME.*
  local name=$1 with=$2 box_id folders="" command='exec /bin/bash /tests/test.sh'
  shift 2
  [ "$with" = 1 ] && command=$restore folders=$OUTPUTS
  # shellcheck disable=SC2086
  box_id=$(docker create $box $limits $grader "$@" "$image" /bin/sh -c "$command" restore $folders)
  tar -C "$work" -c tests logs | docker cp - "$box_id:/"
  if [ "$with" = 1 ]; then tar -C "$work" -c .outputs | docker cp - "$box_id:/"; fi
  run "$VERIFY_SECONDS" "$box_id"
  docker cp "$box_id:/logs/verifier/." "$work/$name" 2>/dev/null
  docker rm -f "$box_id" >/dev/null
}

gate() { # gate SLUG: prints ok, or the name of the gate that failed
  local slug=$1 folder box_id out
  folder=$place/drafts/$slug
  # shellcheck disable=SC1090
  . "$folder.limits"
  limits="--memory ${MEMORY}m --memory-swap ${MEMORY}m --pids-limit $PIDS --ulimit fsize=$FSIZE:$FSIZE"
  two="--cpuset-cpus 0,1" one="--cpuset-cpus 0"
  usual="-e TZ=UTC0 -e LC_ALL=C.UTF-8 -e PYTHONHASHSEED=0"
  mkdir -p "$work/logs/verifier" "$work/solution"
  cp -r "$folder/tests" "$work/tests"
  cp -r "$folder/solution/." "$work/solution"
  chmod 700 "$work/tests" "$work/logs/verifier"

  docker build -q --network none --cache-from "$BASE" -t "$image" "$folder/environment" >/dev/null 2>&1 || { echo build; return; }

  # shellcheck disable=SC2086
  {
    box_id=$(docker create $box $limits $two $grader "$image" /usr/bin/python3 -I -B /tests/verifiers/initial.py)
    tar -C "$work" -c tests | docker cp - "$box_id:/"
    run "$VERIFY_SECONDS" "$box_id" || { docker rm -f "$box_id" >/dev/null; echo initial; return; }
    docker rm -f "$box_id" >/dev/null

    grade noop 0 $two $usual
    [ -s "$work/noop/reward.txt" ] && [ "$(cat "$work/noop/reward.txt")" != 1.0 ] || { echo noop; return; }

    box_id=$(docker create $box $limits $two --user 1000:1000 --env-file "$place/agent.env" \
      -w "$WORKDIR" "$image" /bin/bash /solution/solve.sh)
    tar -C "$work" -c solution | docker cp - "$box_id:/"
    run "$AGENT_SECONDS" "$box_id"
    for out in $OUTPUTS; do
      mkdir -p "$work/.outputs$(dirname "$out")"
      docker cp -a "$box_id:$out" "$work/.outputs$(dirname "$out")/"
    done
    docker rm -f "$box_id" >/dev/null

    grade reference 1 $two $usual
    [ "$(cat "$work/reference/reward.txt" 2>/dev/null)" = 1.0 ] || { echo reference; return; }

    grade again1 1 $one -e TZ=NPT-5:45 -e LC_ALL=C -e PYTHONHASHSEED=1
    grade again2 1 $two -e TZ=NST3:30 -e LC_ALL=POSIX -e PYTHONHASHSEED=4242
  }
  diff -rq "$work/reference" "$work/again1" >/dev/null || { echo determinism; return; }
  diff -rq "$work/reference" "$work/again2" >/dev/null || { echo determinism; return; }

  docker save -o "$work/image.tar" "$image"
  python3 "$here/plain_leaks.py" "$work/image.tar" "$folder" \
    "$(docker inspect -f '{{len .RootFS.Layers}}' "$BASE")" || { echo leak; return; }
  echo ok
}

for folder in "$place"/drafts/*/; do
  slug=$(basename "$folder") image=envgen-bench/$(basename "$folder")
  work=$(mktemp -d "$place/plain.XXXXXX")
  gate "$slug" >"$work/said"
  . "$folder/../$slug.limits"
  size=$(($(docker inspect -f '{{.Size}}' "$image") - $(docker inspect -f '{{.Size}}' "$BASE")))
  echo "$slug $(cat "$work/said") $size" >>"$place/plain.txt"
  rm -rf "$work"
done
