"""Hooks of schemathesis. A plant is created once, so a body needs an id that is free. A path
needs the id of a plant."""

import itertools

import requests
import schemathesis
from schemathesis.generation import GenerationMode

# Exact as floats too, in which form schemathesis writes some of its integers.
_ids = itertools.count(2**40)


def _key(schema):
    """Returns the key of a plant: the member of a NewPlant that a Plant does not have."""
    schemas = schema.raw_schema["components"]["schemas"]
    (key,) = schemas["NewPlant"]["properties"].keys() - schemas["Plant"]["properties"].keys()
    return key


def _create(case):
    """Creates a plant in the collection that the case's path leads into, from the first
    example of openapi.yaml, and returns its id."""
    collection = case.path.partition("/{")[0]
    schema = case.operation.schema
    post = schema.raw_schema["paths"][collection]["post"]
    examples = post["requestBody"]["content"]["application/json"]["examples"]
    plant = dict(next(iter(examples.values()))["value"])
    plant[_key(schema)] = type(plant[_key(schema)])(next(_ids))
    headers = {"Authorization": case.headers.get("Authorization")}
    requests.post(case.operation.base_url + collection, json=plant, headers=headers, timeout=10)
    return plant[_key(schema)]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces the id of a valid request: in a body by a fresh one, and in a path by that of a
    plant. So a request is not refused for its id, unless it is invalid."""
    if case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    key = _key(case.operation.schema)
    body, parameters = case.body, case.path_parameters or {}
    if isinstance(body, dict):
        body[key] = type(body[key])(next(_ids))
    if key in parameters:
        parameters[key] = str(_create(case))
