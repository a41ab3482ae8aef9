#!/bin/bash
# Hear what is keyed, check the sums, choose, copy, list.
set -euo pipefail
export LC_ALL=C
ls -R /srv/media1
cat /srv/media1/SLATES.txt
(cd /srv/media1 && sha256sum -c SHA256SUMS 2>&1) || true
work=$(mktemp -d)
(cd /srv/media1 && find . -name '*.wav' -printf '%P\n' | sort) > "$work/all"
while IFS= read -r path; do
  sox "/srv/media1/$path" -t raw -r 22050 -e signed -b 16 -c 1 - | multimon-ng -q -a DTMF -t raw - | sed -n 's/^DTMF: //p' | tr -d '\n' | sed 's/$/\n/'
done < "$work/all" > "$work/keys"
while IFS= read -r path; do
  sum=$(sha256sum < "/srv/media1/$path" | cut -c -64)
  good=$(grep -qxF "$sum  $path" /srv/media1/SHA256SUMS && echo good || echo bad)
  printf '%s\t%s\t%.1f\t%s\n' "$good" "$sum" "$(soxi -D "/srv/media1/$path")" "$path"
done < "$work/all" > "$work/facts"
sed -E 's/^.*([1-3])[*]([0-9][0-9])#([0-9][0-9]).*$/\2 \3 \1/; t; s/.*/-/' "$work/keys" > "$work/slates"
paste "$work/slates" "$work/facts" > "$work/known"
awk -F'\t' -v OFS='\t' '
  { n++; slate[n] = $1; good[n] = $2; sum[n] = $3; seconds[n] = $4; path[n] = $5
    if ($2 != "good" || $1 == "-") next
    if (!($3 in stays)) stays[$3] = n
    if (!($1 in best) || $4 + 0 < best[$1]) best[$1] = $4 + 0 }
  END { for (i = 1; i <= n; i++) {
      s = good[i] != "good" ? 3 : slate[i] == "-" ? 4 : stays[sum[i]] != i ? 1 : seconds[i] + 0 != best[slate[i]] ? 2 : 0
      print s, slate[i], seconds[i], path[i] } }' "$work/known" > "$work/plan"
mkdir delivery && words=(DELIVER DOUBLE RETAKE BROKEN UNKNOWN) && names=(- canopy south north)
while IFS=$'\t' read -r status slate seconds path; do
  target=- word=${words[status]}
  if [ "$status" = 0 ]; then
    read -r a b c <<< "$slate"
    name=${names[c]}
    target="transect${a}-${b}/${name}.wav"
    install -D -m 644 "/srv/media1/$path" "delivery/$target"
  fi
  printf '%s\n' "$word,$path,$target,$seconds"
done < "$work/plan" > "$work/list"
mv "$work/list" delivery/takes.txt
rm -r "$work"
