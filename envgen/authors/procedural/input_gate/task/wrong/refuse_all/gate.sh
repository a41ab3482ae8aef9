#!/bin/bash
# Stops everything.
while IFS= read -r _; do echo "$REFUSE"; done
