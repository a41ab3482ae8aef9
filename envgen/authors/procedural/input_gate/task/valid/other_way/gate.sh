# The same policy as one awk program.
export LC_ALL=C FORMAT ACCEPT REFUSE RULES ROUNDS FOLD PATH_HIDDEN PATH_DEPTH HEADER_WIDE
export HEADER_BYTES FORMULA_MARKS FORMULA_QUOTES FORMULA_DECIMAL HOST_UNDERSCORE HOST_ZONES
export TARGET_NETS TARGET_SUFFIXES TARGET_PORTS ENTRY_RESERVED ENTRY_DEPTH ENTRY_BYTES
export REDIRECT_HOSTS UPLOAD_TYPES UPLOAD_BLOCKED IDS_MAX IDS_DIGITS IDS_ZERO IDS_UNIQUE REF_BYTES
export NAMES="${COLUMNS[*]}" WANTED=''
for rule in $RULES; do WANTED+="$rule=${FIELDS_OF[$rule]};"; done

program='
function set(name) { return ENVIRON[name] }
function hex(char) { return index("0123456789abcdef", tolower(char)) - 1 }
function pass(text,    out, i, c) {
  out = ""
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "%" && substr(text, i + 1, 2) ~ /^[0-9A-Fa-f][0-9A-Fa-f]$/) {
      c = char_of[16 * hex(substr(text, i + 1, 1)) + hex(substr(text, i + 2, 1))]
      i += 2
    }
    out = out c
  }
  return out
}
function narrowed(text,    out, i, a, b) {
  out = ""
  for (i = 1; i <= length(text); i++) {
    a = substr(text, i, 2)
    b = code_of[substr(text, i + 2, 1)]
    if (a == "\357\274" && b >= 129 && b <= 191) { out = out char_of[b - 96]; i += 2 }
    else if (a == "\357\275" && b >= 128 && b <= 158) { out = out char_of[b - 32]; i += 2 }
    else out = out substr(text, i, 1)
  }
  return out
}
# The canonical form in CANON; 0 when there is none.
function canonical(text,    i) {
  for (i = 0; i < set("ROUNDS"); i++) text = pass(text)
  if (text ~ /%[0-9A-Fa-f][0-9A-Fa-f]/) return 0
  if (set("FOLD")) text = narrowed(text)
  CANON = text
  return text !~ /[\001-\037\177]/
}
function listed(word, list,    parts, n, i) {
  n = split(list, parts, " ")
  for (i = 1; i <= n; i++) if (parts[i] == word) return 1
  return 0
}
function trimmed(text, chars) {
  while (text != "" && index(chars, substr(text, 1, 1))) text = substr(text, 2)
  while (text != "" && index(chars, substr(text, length(text)))) text = substr(text, 1, length(text) - 1)
  return text
}
function pieces(text, mark, into,    n, at) {
  n = 0
  while ((at = index(text, mark)) > 0) { into[++n] = substr(text, 1, at - 1); text = substr(text, at + 1) }
  into[++n] = text
  return n
}
function slashed(text) { gsub(/\\/, "/", text); return text }
function ends(text, tail) { return substr(text, length(text) - length(tail) + 1) == tail }
function path_escape(    p, n, i, depth) {
  n = pieces(slashed(CANON), "/", p)
  depth = 0
  for (i = 1; i <= n; i++) {
    if (p[i] == "" || p[i] == ".") continue
    if (p[i] == "..") depth--; else depth++
    if (depth < 0 || depth > set("PATH_DEPTH") + 0) return 0
    if (p[i] != ".." && set("PATH_HIDDEN") && p[i] ~ /^\./) return 0
  }
  return 1
}
function header_break() {
  if (length(CANON) > set("HEADER_BYTES") + 0) return 0
  if (!set("HEADER_WIDE")) return 1
  return !(index(CANON, "\302\205") || index(CANON, "\342\200\250") || index(CANON, "\342\200\251"))
}
function formula_cell(    cell, at, whole, part) {
  cell = trimmed(CANON, set("FORMULA_QUOTES") ? " \047\"" : " ")
  if (cell == "" || !index(set("FORMULA_MARKS"), substr(cell, 1, 1))) return 1
  sub(/^[+-]/, "", cell)
  at = index(cell, set("FORMULA_DECIMAL"))
  if (!at) return cell ~ /^[0-9]+$/
  whole = substr(cell, 1, at - 1)
  part = substr(cell, at + 1)
  return whole ~ /^[0-9]+$/ && part ~ /^[0-9]+$/
}
function host_name(raw,    p, n, i, zones, m) {
  sub(/\.$/, "", raw)
  n = pieces(raw, ".", p)
  if (length(raw) > 253 || n < 2 || p[n] ~ /^[0-9]+$/) return 0
  for (i = 1; i <= n; i++) {
    if (length(p[i]) > 63 || p[i] == "") return 0
    if (set("HOST_UNDERSCORE") && length(p[i]) > 0) sub(/^_/, "0", p[i])
    if (p[i] !~ /^[A-Za-z0-9-]+$/ || p[i] ~ /^-/ || p[i] ~ /-$/) return 0
  }
  m = split(set("HOST_ZONES"), zones, " ")
  for (i = 1; i <= m; i++) if (ends(tolower(raw), "." zones[i])) return 1
  return m == 0
}
function number(text,    base, value, i, d) {
  if (length(text) > 12) return -1
  base = 10
  if (text ~ /^0x[0-9a-f]+$/) { base = 16; text = substr(text, 3) }
  else if (text ~ /^0[0-7]+$/) base = 8
  else if (text !~ /^(0|[1-9][0-9]*)$/) return -1
  value = 0
  for (i = 1; i <= length(text); i++) value = value * base + hex(substr(text, i, 1))
  return value
}
function address(p, n,    i, v, total) {
  if (n > 4) return -1
  total = 0
  for (i = 1; i <= n; i++) {
    v = number(p[i])
    if (v < 0 || v >= (i < n ? 256 : 256 ^ (5 - n))) return -1
    total += i < n ? v * 256 ^ (4 - i) : v
  }
  return total
}
function internal_target(    text, host, port, at, p, n, i, v, nets, m, q, size, tails) {
  text = slashed(CANON)
  if (tolower(substr(text, 1, 7)) == "http://") text = substr(text, 8)
  else if (tolower(substr(text, 1, 8)) == "https://") text = substr(text, 9)
  else return 0
  match(text, /^[^\/?#]*/)
  host = tolower(substr(text, 1, RLENGTH))
  if ((at = index(host, ":")) > 0) {
    port = substr(host, at + 1)
    host = substr(host, 1, at - 1)
    if (port !~ /^[0-9]+$/ || length(port) > 5 || !listed(port + 0, set("TARGET_PORTS"))) return 0
  }
  sub(/\.$/, "", host)
  n = pieces(host, ".", p)
  for (i = 1; i <= n; i++) if (p[i] !~ /^[a-z0-9_-]+$/) return 0
  if (p[n] ~ /^(0x[0-9a-f]+|[0-9]+)$/) {
    v = address(p, n)
    if (v < 0) return 0
    m = split(set("TARGET_NETS"), nets, " ")
    for (i = 1; i <= m; i++) {
      split(nets[i], q, /[.\/]/)
      size = 2 ^ (32 - q[5])
      at = q[1] * 16777216 + q[2] * 65536 + q[3] * 256 + q[4]
      if (v >= at && v < at + size) return 0
    }
    return 1
  }
  m = split(set("TARGET_SUFFIXES"), tails, " ")
  for (i = 1; i <= m; i++) if (ends("." host, "." tails[i])) return 0
  return 1
}
function archive_entry(    text, p, n, i, stem) {
  text = slashed(CANON)
  if (length(text) > set("ENTRY_BYTES") + 0 || text ~ /^[A-Za-z]:/) return 0
  sub(/\/$/, "", text)
  n = pieces(text, "/", p)
  if (n > set("ENTRY_DEPTH") + 0) return 0
  for (i = 1; i <= n; i++) {
    if (p[i] == "" || p[i] ~ /[. ]$/) return 0
    stem = p[i]
    sub(/\..*/, "", stem)
    if (listed(tolower(stem), set("ENTRY_RESERVED"))) return 0
  }
  return 1
}
function open_redirect(    text) {
  text = trimmed(CANON, " ")
  if (index(text, "\\") || text ~ /^\/\//) return 0
  if (text == "" || text ~ /^\//) return 1
  if (tolower(substr(text, 1, 8)) != "https://") return 0
  text = substr(text, 9)
  sub(/[\/?#].*/, "", text)
  return listed(tolower(text), set("REDIRECT_HOSTS"))
}
function upload_type(declared,    p, n, i, kind) {
  n = pieces(tolower(CANON), ".", p)
  if (n < 2 || CANON ~ /[\/\\]/) return 0
  for (i = 1; i <= n; i++) {
    if (p[i] == "") return 0
    if (i > 1 && i < n && listed(p[i], set("UPLOAD_BLOCKED"))) return 0
  }
  kind = declared
  sub(/;.*/, "", kind)
  return listed(p[n] "=" tolower(trimmed(kind, " ")), set("UPLOAD_TYPES"))
}
function id_list(raw,    p, n, i, seen) {
  n = pieces(raw, ",", p)
  if (n > set("IDS_MAX") + 0) return 0
  for (i = 1; i <= n; i++) {
    if (p[i] !~ /^[0-9]+$/ || length(p[i]) > set("IDS_DIGITS") + 0) return 0
    if (!set("IDS_ZERO") && p[i] ~ /^0/) return 0
    if (set("IDS_UNIQUE") && ("_" p[i]) in seen) return 0
    seen["_" p[i]] = 1
  }
  return 1
}
function ref_name(raw,    p, n, i) {
  if (raw !~ /^[A-Za-z0-9._\/-]+$/ || length(raw) > set("REF_BYTES") + 0) return 0
  if (raw ~ /^-/ || raw ~ /\.$/ || raw ~ /\.\./) return 0
  n = pieces(raw, "/", p)
  for (i = 1; i <= n; i++) if (p[i] == "" || p[i] ~ /^\./ || p[i] ~ /\.lock$/) return 0
  return 1
}
function obeys(rule, first, second) {
  if (rule == "host_name") return host_name(first)
  if (rule == "id_list") return id_list(first)
  if (rule == "ref_name") return ref_name(first)
  if (!canonical(first)) return 0
  if (rule == "path_escape") return path_escape()
  if (rule == "header_break") return header_break()
  if (rule == "formula_cell") return formula_cell()
  if (rule == "internal_target") return internal_target()
  if (rule == "archive_entry") return archive_entry()
  if (rule == "open_redirect") return open_redirect()
  return upload_type(second)
}
function verdict(line,    cells, n, i, at, rules, m, pair, field) {
  n = pieces(line, "\t", cells)
  for (i = 1; i <= n; i++) {
    if (set("FORMAT") == "tsv") { value[columns[i]] = cells[i]; continue }
    at = index(cells[i], "=")
    value[substr(cells[i], 1, at - 1)] = set("FORMAT") == "json" ? \
      pass(substr(cells[i], at + 1)) : substr(cells[i], at + 1)
  }
  m = split(set("WANTED"), rules, ";")
  for (i = 1; i <= m; i++) {
    if (rules[i] == "") continue
    split(rules[i], pair, "=")
    split(pair[2], field, " ")
    if (!obeys(pair[1], value[field[1]], value[field[2]])) return 0
  }
  return 1
}
BEGIN {
  for (i = 1; i < 256; i++) { char_of[i] = sprintf("%c", i); code_of[char_of[i]] = i }
  char_of[0] = char_of[1]
  split(set("NAMES"), columns, " ")
  # FS splits nothing that is used; lines are cut by hand so that empty cells stay
}
{ print (verdict($0) ? set("ACCEPT") : set("REFUSE")) }
'

if [ "$FORMAT" = json ]; then
  jq -r 'to_entries | map("\(.key)=\(.value | @uri)") | join("\t")' | awk "$program"
else
  awk "$program"
fi
