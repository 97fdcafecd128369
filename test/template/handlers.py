"""Prints the permissions that CloudFormation's registry lists for the resource types on stdin, as JSON.

cfn-lint contains the registry's schemas.
"""
import json
import sys

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

permissions = set()
for kind in set(json.load(sys.stdin)):
    handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema("eu-central-1", kind).schema.get("handlers", {})
    for name in ("create", "read", "update", "delete"):
        permissions.update(handlers.get(name, {}).get("permissions", []))
json.dump(sorted(permissions), sys.stdout)
