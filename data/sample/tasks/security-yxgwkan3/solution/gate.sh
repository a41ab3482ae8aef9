#!/bin/bash
ROUNDS=3
FOLD=0
PATH_HIDDEN=1
PATH_DEPTH=7
HEADER_WIDE=1
HEADER_BYTES=80
FORMULA_MARKS='=+-@!'
FORMULA_QUOTES=1
FORMULA_DECIMAL=.
HOST_UNDERSCORE=0
HOST_ZONES='edge.example.com nodes.example.org'
TARGET_NETS='0.0.0.0/8 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 192.0.2.0/25 192.168.0.0/16 203.0.113.0/24'
TARGET_SUFFIXES='home.arpa localhost svc.example'
TARGET_PORTS='443 8000 8443'
ENTRY_RESERVED='com2 con lpt1 lpt9'
ENTRY_DEPTH=6
ENTRY_BYTES=78
REDIRECT_HOSTS='help.example.org pay.example.net status.example.org'
UPLOAD_TYPES='csv=text/csv odt=application/vnd.oasis.opendocument.text pdf=application/pdf txt=text/plain'
UPLOAD_BLOCKED='bat cgi exe hta html py scr sh'
IDS_MAX=9
IDS_DIGITS=8
IDS_ZERO=0
IDS_UNIQUE=0
REF_BYTES=36
RULES='header_break upload_type formula_cell archive_entry id_list'
declare -A FIELDS_OF=([header_break]=subject [upload_type]='picture kind' [formula_cell]=district [archive_entry]=zip_member [id_list]=related)
FORMAT=pairs
COLUMNS=(office language subject picture kind district zip_member related)
ACCEPT=0
REFUSE=1

# Reads one record per line and answers each with the policy's verdict.
# The settings above are taken from the policy document.
LC_ALL=C

decode_once() {
  local rest=$1 out='' hex char
  while [[ $rest == *%* ]]; do
    out+=${rest%%\%*}
    rest=${rest#*%}
    if [[ $rest == [0-9A-Fa-f][0-9A-Fa-f]* ]]; then
      hex=${rest:0:2}
      [[ $hex == 00 ]] && hex=01 # Bash cannot hold a zero byte; both are control bytes
      printf -v char '%b' "\\x$hex"
      out+=$char
      rest=${rest:2}
    else
      out+=%
    fi
  done
  REPLY=$out$rest
}

narrow() {
  local text=$1 code wide plain
  if [[ $text == *$'\xef'* ]]; then
    for ((code = 0x21; code <= 0x7e; code++)); do
      if ((code < 0x60)); then
        printf -v wide '\\xef\\xbc\\x%02x' $((code + 0x60))
      else
        printf -v wide '\\xef\\xbd\\x%02x' $((code + 0x20))
      fi
      printf -v wide '%b' "$wide"
      printf -v plain '\\x%02x' "$code"
      printf -v plain '%b' "$plain"
      text=${text//"$wide"/"$plain"}
    done
  fi
  REPLY=$text
}

canonical() {
  local round
  REPLY=$1
  for ((round = 0; round < ROUNDS; round++)); do decode_once "$REPLY"; done
  [[ $REPLY == *%[0-9A-Fa-f][0-9A-Fa-f]* ]] && return 1
  ((FOLD)) && narrow "$REPLY"
  [[ $REPLY != *[$'\x01'-$'\x1f\x7f']* ]]
}

listed() { # word, list of words
  [[ " $2 " == *" $1 "* ]]
}

strip() { # text, class of characters
  REPLY=$1
  while [[ $REPLY == ["$2"]* ]]; do REPLY=${REPLY#?}; done
  while [[ $REPLY == *["$2"] ]]; do REPLY=${REPLY%?}; done
}

split() { # text, one character: PARTS, empty ones kept
  local rest=$1
  PARTS=()
  while [[ $rest == *"$2"* ]]; do
    PARTS+=("${rest%%"$2"*}")
    rest=${rest#*"$2"}
  done
  PARTS+=("$rest")
}

path_escape() {
  local depth=0 part
  canonical "$1" || return 1
  split "${REPLY//\\//}" /
  for part in "${PARTS[@]}"; do
    case $part in
      '' | .) continue ;;
      ..) ((depth -= 1)) ;;
      *)
        ((depth += 1))
        [[ $PATH_HIDDEN == 1 && $part == .* ]] && return 1
        ;;
    esac
    ((depth < 0 || depth > PATH_DEPTH)) && return 1
  done
  return 0
}

header_break() {
  canonical "$1" || return 1
  ((${#REPLY} <= HEADER_BYTES)) || return 1
  ((HEADER_WIDE)) || return 0
  [[ $REPLY != *$'\xc2\x85'* && $REPLY != *$'\xe2\x80\xa8'* && $REPLY != *$'\xe2\x80\xa9'* ]]
}

formula_cell() {
  local number="^[+-]?[0-9]+([$FORMULA_DECIMAL][0-9]+)?\$"
  canonical "$1" || return 1
  if ((FORMULA_QUOTES)); then strip "$REPLY" " '\""; else strip "$REPLY" ' '; fi
  [[ -z $REPLY || $FORMULA_MARKS != *"${REPLY:0:1}"* || $REPLY =~ $number ]]
}

host_name() {
  local name=${1%.} label zone shape='^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$'
  ((HOST_UNDERSCORE)) && shape='^[A-Za-z0-9_]([A-Za-z0-9-]*[A-Za-z0-9])?$'
  split "$name" .
  ((${#name} <= 253 && ${#PARTS[@]} >= 2)) || return 1
  [[ ${PARTS[-1]} == *[!0-9]* ]] || return 1
  for label in "${PARTS[@]}"; do
    [[ $label =~ $shape ]] && ((${#label} <= 63)) || return 1
  done
  [[ -z $HOST_ZONES ]] && return 0
  for zone in $HOST_ZONES; do
    [[ ${name,,} == *".$zone" ]] && return 0
  done
  return 1
}

number() {
  ((${#1} <= 12)) || return 1
  if [[ $1 =~ ^0x[0-9a-f]+$ || $1 =~ ^0[0-7]*$ || $1 =~ ^[1-9][0-9]*$ ]]; then
    REPLY=$(($1))
    return 0
  fi
  return 1
}

address() {
  local count=${#PARTS[@]} total=0 place
  ((count <= 4)) || return 1
  for ((place = 0; place < count; place++)); do
    number "${PARTS[place]}" || return 1
    if ((place < count - 1)); then
      ((REPLY <= 255)) || return 1
      ((total += REPLY << (8 * (3 - place))))
    else
      ((REPLY < 1 << (8 * (5 - count)))) || return 1
      ((total += REPLY))
    fi
  done
  REPLY=$total
}

refused() {
  local net bits a b c d
  for net in $TARGET_NETS; do
    bits=${net#*/}
    IFS=. read -r a b c d <<<"${net%/*}"
    (($1 >> (32 - bits) == ((a << 24) + (b << 16) + (c << 8) + d) >> (32 - bits))) && return 0
  done
  return 1
}

internal_target() {
  local text host port label end
  canonical "$1" || return 1
  text=${REPLY//\\//}
  case ${text,,} in
    http://*) text=${text:7} ;;
    https://*) text=${text:8} ;;
    *) return 1 ;;
  esac
  host=${text%%[/?#]*}
  if [[ $host == *:* ]]; then
    port=${host#*:}
    host=${host%%:*}
    [[ $port =~ ^[0-9]{1,5}$ ]] && listed $((10#$port)) "$TARGET_PORTS" || return 1
  fi
  host=${host,,}
  host=${host%.}
  split "$host" .
  for label in "${PARTS[@]}"; do
    [[ $label =~ ^[a-z0-9_-]+$ ]] || return 1
  done
  if [[ ${PARTS[-1]} =~ ^(0x[0-9a-f]+|[0-9]+)$ ]]; then
    address && ! refused "$REPLY"
    return
  fi
  for end in $TARGET_SUFFIXES; do
    [[ .$host == *".$end" ]] && return 1
  done
  return 0
}

archive_entry() {
  local text part stem
  canonical "$1" || return 1
  text=${REPLY//\\//}
  ((${#text} <= ENTRY_BYTES)) || return 1
  [[ $text == [A-Za-z]:* ]] && return 1
  split "${text%/}" /
  ((${#PARTS[@]} <= ENTRY_DEPTH)) || return 1
  for part in "${PARTS[@]}"; do
    stem=${part%%.*}
    [[ -z $part || $part == *[.\ ] ]] && return 1
    [[ -n $stem && $stem != *' '* ]] && listed "${stem,,}" "$ENTRY_RESERVED" && return 1
  done
  return 0
}

open_redirect() {
  local host
  canonical "$1" || return 1
  strip "$REPLY" ' '
  [[ $REPLY == *\\* || $REPLY == //* ]] && return 1
  [[ -z $REPLY || $REPLY == /* ]] && return 0
  [[ ${REPLY,,} == https://* ]] || return 1
  host=${REPLY:8}
  host=${host%%[/?#]*}
  [[ -n $host && $host != *' '* ]] && listed "${host,,}" "$REDIRECT_HOSTS"
}

upload_type() {
  local name declared=${2%%;*} place
  canonical "$1" || return 1
  name=${REPLY,,}
  [[ $name == */* || $name == *\\* ]] && return 1
  split "$name" .
  ((${#PARTS[@]} >= 2)) || return 1
  for ((place = 0; place < ${#PARTS[@]}; place++)); do
    [[ -n ${PARTS[place]} ]] || return 1
    ((place > 0 && place < ${#PARTS[@]} - 1)) || continue
    [[ ${PARTS[place]} != *' '* ]] && listed "${PARTS[place]}" "$UPLOAD_BLOCKED" && return 1
  done
  strip "$declared" ' '
  declared=${REPLY,,}
  [[ $declared != *' '* && ${PARTS[-1]} != *' '* ]] &&
    listed "${PARTS[-1]}=$declared" "$UPLOAD_TYPES"
}

id_list() {
  local item first='[1-9]' seen=' '
  ((IDS_ZERO)) && first='[0-9]'
  split "$1" ,
  ((${#PARTS[@]} <= IDS_MAX)) || return 1
  for item in "${PARTS[@]}"; do
    [[ $item =~ ^$first[0-9]{0,$((IDS_DIGITS - 1))}$ ]] || return 1
    ((IDS_UNIQUE)) && [[ $seen == *" $item "* ]] && return 1
    seen+="$item "
  done
  return 0
}

ref_name() {
  local part
  [[ $1 =~ ^[A-Za-z0-9._/-]+$ && $1 != -* && $1 != *. && $1 != *..* ]] || return 1
  ((${#1} <= REF_BYTES)) || return 1
  split "$1" /
  for part in "${PARTS[@]}"; do
    [[ -z $part || $part == .* || $part == *.lock ]] && return 1
  done
  return 0
}

judge() { # the cells of one line; FIELDS by name
  local cell rule names first second
  for cell in "$@"; do FIELDS[${cell%%=*}]=${cell#*=}; done
  for rule in $RULES; do
    names=${FIELDS_OF[$rule]}
    first=${names% *}
    second=${names#* }
    "$rule" "${FIELDS[$first]}" "${FIELDS[$second]}" || return 1
  done
  return 0
}

answer_all() {
  local line place cells
  declare -A FIELDS
  while IFS= read -r line || [[ -n $line ]]; do
    split "$line" $'\t'
    cells=("${PARTS[@]}")
    if [[ $FORMAT == tsv ]]; then
      for place in "${!cells[@]}"; do cells[place]=${COLUMNS[place]}=${cells[place]}; done
    elif [[ $FORMAT == json ]]; then
      # each value came percent-encoded as a whole: see below
      for place in "${!cells[@]}"; do
        decode_once "${cells[place]}"
        cells[place]=$REPLY
      done
    fi
    if judge "${cells[@]}"; then echo "$ACCEPT"; else echo "$REFUSE"; fi
  done
}

if [[ $FORMAT == json ]]; then
  jq -r 'to_entries | map("\(.key)=\(.value | @uri)") | join("\t")' | answer_all
else
  answer_all
fi
