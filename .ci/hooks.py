"""Gives each body that schemathesis sends with a valid id a new one, because a plant is created once."""
import itertools

import schemathesis

ids = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    value = case.body.get("id") if isinstance(case.body, dict) else None
    if type(value) in (int, float) and value % 1 == 0 and -(2**63) <= value < 2**63:
        case.body["id"] = next(ids)
