#!/bin/bash
# Digests of both sides beside the listed ones, one fate for each path, then copies and report.
set -euo pipefail
export LC_ALL=C
ls -R trees | head -n 40
work=$(mktemp -d)
sed -E 's/^([0-9a-f]{64})  (.*)$/base\t\1\t\2/' trees/agreed.lst > "$work/all"
for side in laptop desktop; do
  find trees/$side -name 'lost+found' -prune -o -type f -printf '%P\0' |
    (cd trees/$side && xargs -0 sha256sum) | sed -E "s/^([0-9a-f]{64})  /$side\t\1\t/" >> "$work/all"
done
awk -F'\t' -v OFS='\t' '
  { sum[$1, $3] = $2; seen[$3] = 1 }
  END {
    for (p in seen) {
      o = sum["base", p]; a = sum["laptop", p]; b = sum["desktop", p]
      if (a == o && b == o) print "kept", p, "laptop"
      else if (a == b) print (a == "" ? "removed" : "agreed"), p, (a == "" ? "-" : "laptop")
      else if (a == o) print (b == "" ? "removed" : "right"), p, (b == "" ? "-" : "desktop")
      else if (b == o) print (a == "" ? "removed" : "left"), p, (a == "" ? "-" : "laptop")
      else if (a == "" || b == "") print "revived", p, (a == "" ? "desktop" : "laptop")
      else print "conflict", p, "?"
    }
  }' "$work/all" | sort -t $'\t' -k2,2 > "$work/plan"
while IFS=$'\t' read -r status path side; do
  one="trees/laptop/$path" two="trees/desktop/$path" bytes=- sum=-
  case $status in
    agreed) word='=' nth=1 ;;
    removed) word='-' nth=2 ;;
    left) word='1' nth=3 ;;
    conflict) word='!' nth=4 ;;
    revived) word='+' nth=5 ;;
    right) word='2' nth=6 ;;
    kept) word= nth=0 ;;
  esac
  if [ "$side" = '?' ]; then
    side=$([ "$(stat -c %s "$one")" -ge "$(stat -c %s "$two")" ] && echo laptop || echo desktop)
  fi
  if [ "$side" != - ]; then
    install -D -m 644 "trees/$side/$path" "joint/$path"
    bytes=$(stat -c %s "joint/$path") sum=$(sha256sum < "joint/$path" | cut -c -64)
  fi
  if [ "$status" != kept ]; then printf '%s\t%s\t%s\t%s\n' "$nth" "$path" "$word" "$bytes	$path	$word"; fi
done < "$work/plan" > "$work/told"
sort -t $'\t' -k2,2 "$work/told" | cut -f 4- > report.txt
