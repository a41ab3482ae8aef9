"""Values for every rule: ordinary ones, harmless ones that look hostile, and hostile ones.

A draw may miss its aim: who calls it asks `policy.is_good` and draws again.
"""

import random
from collections.abc import Callable, Mapping, Sequence

from envgen.authors.procedural.input_gate import file_values, name_values, web_values
from envgen.authors.procedural.input_gate.policy import Policy
from envgen.authors.procedural.input_gate.words import Values

Draw = Callable[[random.Random, Policy, Sequence[str]], Values]


def _one(function: Callable[[random.Random, Policy, Sequence[str]], str]) -> Draw:
    return lambda rng, policy, words: (function(rng, policy, words),)


DRAWS: Mapping[str, tuple[Draw, Draw, Draw]] = {
    "archive_entry": (
        _one(file_values.good_entry),
        _one(file_values.near_entry),
        _one(file_values.bad_entry),
    ),
    "formula_cell": (
        _one(web_values.good_cell),
        _one(web_values.near_cell),
        _one(web_values.bad_cell),
    ),
    "header_break": (
        _one(web_values.good_header),
        _one(web_values.near_header),
        _one(web_values.bad_header),
    ),
    "host_name": (
        _one(name_values.good_host),
        _one(name_values.near_host),
        _one(name_values.bad_host),
    ),
    "id_list": (_one(name_values.good_ids), _one(name_values.near_ids), _one(name_values.bad_ids)),
    "internal_target": (
        _one(web_values.good_target),
        _one(web_values.near_target),
        _one(web_values.bad_target),
    ),
    "open_redirect": (
        _one(web_values.good_redirect),
        _one(web_values.near_redirect),
        _one(web_values.bad_redirect),
    ),
    "path_escape": (
        _one(file_values.good_path),
        _one(file_values.near_path),
        _one(file_values.bad_path),
    ),
    "ref_name": (_one(name_values.good_ref), _one(name_values.near_ref), _one(name_values.bad_ref)),
    "upload_type": (file_values.good_upload, file_values.near_upload, file_values.bad_upload),
}
"""Rule -> (ordinary, harmless but suspicious, hostile)."""
