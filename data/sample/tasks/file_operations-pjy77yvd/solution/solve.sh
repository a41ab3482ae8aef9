#!/bin/bash
# Unpack, verify, place, list: the commands that one would type, in the home folder.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d) && mkdir "$work/tree" && tar -xf "transfer/invoices-handover-345.tar.bz2" -C "$work/tree"

# Archives in archives, until none is left.
while archive=$(find "$work/tree" -type f \( -name '*.zip' -o -name '*.tar' -o -name '*.tar.*' -o -name '*.tgz' \) -print -quit) && [ -n "$archive" ]; do
  folder=${archive%.*} && folder=${folder%.tar} && mkdir -p "$folder"
  case $archive in *.zip) unzip -q "$archive" -d "$folder" ;; *) tar -xf "$archive" -C "$folder" ;; esac
  rm "$archive"
done

# Digest and path, tab between: as listed, and as found.
awk -F, -v OFS='\t' 'NR > 1 { print $3, $1 }' transfer/checklist.csv > "$work/listed"
(cd "$work/tree" && find . -type f -printf '%P\0' | xargs -0 md5sum) | sed -E 's/^([0-9a-f]+)  /\1\t/' > "$work/found"

# Status (0 kept, 1 duplicate, 2 corrupt, 3 missing, 4 unlisted), place in the list, path.
awk -F'\t' -v OFS='\t' '
  function better(a, b) {
    da = gsub("/", "/", a); db = gsub("/", "/", b)
    return da > db || (da == db && (a "") < (b ""))
  }
  FNR == NR { want[$2] = $1; place[$2] = FNR; next }
  !($2 in want) { print 4, 1000000, $2; next }
  { seen[$2] = 1 }
  $1 != want[$2] { print 2, place[$2], $2; next }
  { verified[$2] = $1 }
  !($1 in best) || better($2, best[$1]) { best[$1] = $2 }
  END {
    for (p in want) if (!(p in seen)) print 3, place[p], p
    for (p in verified) print (best[verified[p]] == p ? 0 : 1), place[p], p
  }' "$work/listed" "$work/found" | sort -t $'\t' -k3,3 |
  awk -F'\t' -v OFS='\t' '{ print $1, $2, ($1 == 0 ? ++n : 0), $3 }' |
  sort -t $'\t' -k2,2n -k4,4 > "$work/plan"

mkdir recovered && words=(placed twin mismatch not-found not-listed)
{
echo 'source	status	target	digest'
while IFS=$'\t' read -r status place n source; do
  document=$work/tree/$source target=- bytes=- digest=-
  case $status in
    0)
      target=$(bash tools/target.sh "$document" "${source%%/*}")
      ;;
  esac
  if [ -e "$document" ]; then bytes=$(stat -c %s "$document") digest=$(sha256sum < "$document" | cut -d ' ' -f 1); fi
  if [ "$target" != - ]; then install -D -m 644 "$document" "recovered/$target"; fi
  status=${words[status]} && printf '%s\n' "$source	$status	$target	$digest"
done < "$work/plan"
awk -F'\t' '{ n[$1]++ } END { print "# placed=" n[0]+0, "twin=" n[1]+0, "mismatch=" n[2]+0, "not-found=" n[3]+0, "not-listed=" n[4]+0 }' "$work/plan"
} > recovered/MANIFEST.txt
rm -rf "$work"
