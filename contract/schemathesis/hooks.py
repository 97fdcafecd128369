"""Hooks of schemathesis: a plant is created once, so each case needs an id that is free."""

import itertools

import schemathesis

# Exact as floats too, in which form schemathesis writes some of its integers.
_ids = itertools.count(2**40)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives a valid body a fresh id; an invalid one stays as it was generated."""
    body = case.body
    if isinstance(body, dict) and type(body.get("id")) in (int, float) and case.meta.generation.mode.is_positive:
        body["id"] = type(body["id"])(next(_ids))
