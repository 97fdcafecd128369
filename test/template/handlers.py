"""Prints the permissions that CloudFormation's registry lists for each resource type on stdin, as JSON.

cfn-lint contains the registry's schemas.
"""
import json
import sys

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER


def permissions(kind):
    handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema("eu-central-1", kind).schema.get("handlers", {})
    return sorted({p for name in ("create", "read", "update", "delete") for p in handlers.get(name, {}).get("permissions", [])})


json.dump({kind: permissions(kind) for kind in json.load(sys.stdin)}, sys.stdout)
