"""Hooks of schemathesis. A plant is created once, so a body needs an id that is free."""

import itertools

import schemathesis
from schemathesis.generation import GenerationMode

# Exact as floats too, in which form schemathesis writes some of its integers.
_ids = itertools.count(2**40)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives a valid body a fresh id, so that it is not refused for its id."""
    if case.meta.generation.mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
        case.body["id"] = next(_ids)
