"""Hooks of schemathesis: a plant is created once, so each case needs an id that is free."""

import itertools

import schemathesis

# Exact as floats too, in which form schemathesis writes some of its integers.
_ids = itertools.count(2**40)


def _is_id(value):
    return type(value) in (int, float) and value % 1 == 0 and -(2**63) <= value < 2**63


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces a valid id by a fresh one. So a body that is invalid in another way
    cannot be refused for an id that is taken."""
    body = case.body
    if isinstance(body, dict) and _is_id(body.get("id")):
        body["id"] = type(body["id"])(next(_ids))
