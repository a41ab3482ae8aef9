#!/bin/bash
# Lets everything through.
while IFS= read -r _; do echo "$ACCEPT"; done
