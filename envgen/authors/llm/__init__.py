"""Authors that ask a language model; every answer passes the same gates as any other draft."""
