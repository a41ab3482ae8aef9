#!/bin/sh
# Make data/sample anew: 18 procedural tasks, two of each domain, with their manifest and folders.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/envgen run --run sample --n 18 --seed 2026 --author procedural
rm -rf data/sample
mkdir -p data/sample
cp data/runs/sample/manifest.parquet data/runs/sample/config.yaml data/sample/
.venv/bin/envgen export data/sample/tasks --from data/sample/manifest.parquet
cp data/runs/sample/tasks/dataset.toml data/sample/tasks/
