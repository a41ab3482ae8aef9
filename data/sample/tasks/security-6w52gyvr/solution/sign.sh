#!/bin/bash
# sign.sh KEYID SECRET SECONDS NONCE < request: the request with its signature.
set -euo pipefail
export LC_ALL=C
keyid=$1 secret=$2 seconds=$3 nonce=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/request"
sed '1,/^$/d' "$work/request" > "$work/body"
sed '/^$/,$d' "$work/request" > "$work/head"
read -r method target < "$work/head"
path=${target%%\?*} query=${target#*\?}
[[ $target == *\?* ]] || query=
query=$(printf '%s' "$query" | tr '&' '\n' | sort | paste -sd '&')
header() {
    sed 1d "$work/head" | awk -v name="$1" '
        index(tolower($0), name ":") == 1 { sub(/^[^:]*:/, ""); gsub(/[ \t]+/, " "); sub(/^ /, ""); sub(/ $/, ""); print; exit }'
}
keyed() { # KEY-IN-HEX < data
    openssl dgst -sha512 -mac HMAC -macopt "hexkey:$1" -r | cut -d ' ' -f 1
}
method=${method^^}
headers="host:$(header host);x-tenant:$(header x-tenant);x-trace:$(header x-trace)"
body=$(openssl dgst -sha512 -r "$work/body" | cut -d ' ' -f 1)
time=$seconds
secret=$(date -u -d "@$seconds" +%Y%m%d | tr -d '\n' | keyed "$secret")
sig=$(printf '%s' "$path
$method
$time
$body
$query
$nonce
$headers" | keyed "$secret")
cat "$work/head"
printf '%s: keyid=%s, ts=%s, nonce=%s, sig=%s\n\n' 'X-Proof' "$keyid" "$seconds" "$nonce" "$sig"
cat "$work/body"
