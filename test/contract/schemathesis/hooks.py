"""Hooks of schemathesis. A plant is created once, so a body needs an id that is free. A path
needs the id of a plant."""

import itertools
import json

import requests
import schemathesis

# Exact as floats too, in which form schemathesis writes some of its integers.
_ids = itertools.count(2**40)


def _key(schema):
    """Returns the key of a plant: the member of a NewPlant that a Plant does not have."""
    schemas = schema.raw_schema["components"]["schemas"]
    (key,) = schemas["NewPlant"]["properties"].keys() - schemas["Plant"]["properties"].keys()
    return key


def _is_id(value):
    return type(value) in (int, float) and value % 1 == 0 and -(2**63) <= value < 2**63


def _number(text):
    """Returns the value of a path parameter, which may be a number or its text."""
    try:
        return json.loads(str(text))
    except ValueError:
        return None


def _create(case):
    """Creates a plant in the collection that the case's path leads into, from the first
    example of openapi.yaml, and returns its id."""
    collection = case.path.partition("/{")[0]
    schema = case.operation.schema
    post = schema.raw_schema["paths"][collection]["post"]
    examples = post["requestBody"]["content"]["application/json"]["examples"]
    plant = next(iter(examples.values()))["value"] | {_key(schema): next(_ids)}
    headers = {"Authorization": case.headers.get("Authorization")}
    requests.post(case.operation.base_url + collection, json=plant, headers=headers, timeout=10)
    return plant[_key(schema)]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces a valid id in a body by a fresh one, and in a path by that of a plant. So a
    request is not refused for its id, unless the id is invalid."""
    key = _key(case.operation.schema)
    body, parameters = case.body, case.path_parameters
    if isinstance(body, dict) and _is_id(body.get(key)):
        body[key] = type(body[key])(next(_ids))
    if parameters and _is_id(_number(parameters.get(key))):
        parameters[key] = str(_create(case))
