"""Hooks of schemathesis. A plant is created once, so each body needs an id of its own."""

import itertools

import schemathesis

# Exact as floats too, in which form schemathesis writes some of its integers.
_ids = itertools.count(2**40)
_used = set()


def _is_id(value):
    """Returns whether value is a valid id. In Python, True is an integer too."""
    return type(value) in (int, float) and value % 1 == 0 and -(2**63) <= value < 2**63


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives a body whose id was used a fresh one. The refusal of its id would hide what the service says of the rest."""
    if not isinstance(case.body, dict) or not _is_id(case.body.get("id")):
        return
    if case.body["id"] in _used:
        case.body["id"] = next(_ids)
    _used.add(case.body["id"])
