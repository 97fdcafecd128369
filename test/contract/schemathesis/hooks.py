"""Hooks of schemathesis. A plant is created once, so each body needs an id of its own."""

import itertools

import schemathesis
from schemathesis.generation import GenerationMode

# Exact as floats too, in which form schemathesis writes some of its integers.
_ids = itertools.count(2**40)
_used = set()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives a valid body whose id was used a fresh one, so that it is not refused for its id."""
    if case.meta.generation.mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
        if case.body["id"] in _used:
            case.body["id"] = next(_ids)
        _used.add(case.body["id"])
