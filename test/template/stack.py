"""Prints, as JSON, the stacks that SAM makes of template.yaml, and the permissions that CloudFormation's
registry, which cfn-lint contains, lists for the types of their resources.
"""
import copy
import json
import sys

import boto3
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

with open("template.yaml") as file:
    template = yaml_parse(file.read())
del template["Globals"]["Function"]["CodeUri"]
for resource in template["Resources"].values():
    if resource["Type"] == "AWS::Serverless::Function":
        resource["Properties"]["CodeUri"] = "s3://bucket/key"
translator = Translator({}, Parser(), boto_session=boto3.Session(region_name="eu-central-1"))
stacks = {
    "Production": translator.translate(copy.deepcopy(template), {"Stage": "production", "Shift": "gradual"}),
    "Staging": translator.translate(copy.deepcopy(template), {"Stage": "staging", "Shift": "gradual"}),
    "AtOnce": translator.translate(copy.deepcopy(template), {"Stage": "production", "Shift": "at-once"}),
    "Dev": translator.translate(copy.deepcopy(template), {"Stage": "dev", "Shift": "gradual"}),
}

permissions = set()
for kind in {resource["Type"] for stack in stacks.values() for resource in stack["Resources"].values()}:
    handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema("eu-central-1", kind).schema.get("handlers", {})
    for name in ("create", "read", "update", "delete"):
        permissions.update(handlers.get(name, {}).get("permissions", []))
json.dump({**stacks, "Permissions": sorted(permissions)}, sys.stdout)
