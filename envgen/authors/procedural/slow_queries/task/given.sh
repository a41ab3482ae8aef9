#!/bin/bash
# Queries and indexes as they are, put where they belong.
set -eu
mkdir -p fast
cp /solution/fast/* fast/
