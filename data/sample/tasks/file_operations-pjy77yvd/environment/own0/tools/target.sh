#!/bin/bash
# Prints the place of one invoice in the collection, relative to its top folder.
# usage: target.sh FILE CONTAINER
set -eu
field() { grep -m 1 "^$1: " "$2" | cut -d : -f 2- | cut -c 2-; }
ref=$(field 'Invoice' "$1")
date=$(field 'Issued' "$1")
series=$(field 'Cost centre' "$1")
container=$2
year=$(cut -d / -f 3 <<< "$date")
month=$(cut -d / -f 2 <<< "$date")
day=$(cut -d / -f 1 <<< "$date")
date=$year$month$day
series=$(tr '[:upper:] ' '[:lower:]_' <<< "$series")
echo "${container}/${series}/${ref}.txt"
