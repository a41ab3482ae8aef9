#!/bin/bash
# Entry point of the grading; the same text for every task. Whatever the environment and the
# current folder are, the grader runs isolated, with an empty environment and fixed paths.

# An assignment, so no command that a function from the environment could replace: in POSIX mode
# the shell's own `exec` and `set` win over such functions.
POSIXLY_CORRECT=1

# Zone, locale and hash seed may vary (a grade must not depend on them) but carry nothing else.
tz=UTC locale=C.UTF-8 seed=0
case "${TZ-}" in "" | *[!A-Za-z0-9_+:/-]*) ;; *) tz=$TZ ;; esac
case "${LC_ALL-}" in "" | *[!A-Za-z0-9_.@-]*) ;; *) locale=$LC_ALL ;; esac
case "${PYTHONHASHSEED-}" in "" | *[!0-9]*) ;; *) seed=$PYTHONHASHSEED ;; esac

exec /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  "TZ=$tz" "LC_ALL=$locale" "PYTHONHASHSEED=$seed" \
  /usr/bin/python3 -I -B -X utf8 /tests/verifiers/run.py </dev/null
