#!/bin/bash
# Prints the place of one label transcript in the collection, relative to its top folder.
# usage: place-of.sh FILE
set -eu
field() { grep -m 1 "^$1: " "$2" | cut -d : -f 2- | cut -c 2-; }
ref=$(field 'Sheet' "$1")
date=$(field 'Collected' "$1")
series=$(field 'Family' "$1")
year=$(cut -d - -f 1 <<< "$date")
month=$(cut -d - -f 2 <<< "$date")
day=$(cut -d - -f 3 <<< "$date")
date=$year-$month-$day
series=$(tr '[:upper:] ' '[:lower:]_' <<< "$series")
ref=$(tr '[:upper:]' '[:lower:]' <<< "$ref")
echo "${series}/${year}/${ref}.txt"
