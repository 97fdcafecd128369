"""Prints three things as JSON: deploy/role.yaml, the stacks that SAM makes of template.yaml, and the
parameters that samconfig.toml gives each environment. Runs in the root of the repository.
"""
import copy
import json
import sys
import tomllib

import boto3
from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator


def read(name):
    with open(name) as file:
        return yaml_parse(file.read())


def with_references_as_text(value):
    """Writes each reference, by Ref or by Fn::GetAtt, as in the text of Fn::Sub, such as ${Log.Arn}."""
    if isinstance(value, list):
        return [with_references_as_text(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {name: with_references_as_text(member) for name, member in value.items()}
    match value:
        case {"Ref": name}:
            return "${%s}" % name
        case {"Fn::GetAtt": path}:
            return "${%s}" % ".".join(path)
        case {"Fn::Sub": [text, variables]}:
            for name, meaning in variables.items():
                text = text.replace("${%s}" % name, meaning)
            return text
        case {"Fn::Sub": text}:
            return text
        case {"Statement": statements}:
            return value | {"Statement": [plain(statement) for statement in statements]}
    return value


def plain(statement):
    """Returns a statement of IAM without its condition of CloudFormation, and with lists of actions and resources."""
    match statement:
        case {"Fn::If": ["Traced", granted, "${AWS::NoValue}"]}:
            statement = granted
    unread = statement.keys() - {"Effect", "Principal", "Action", "Resource", "Condition"}
    if unread or statement["Effect"] != "Allow":
        sys.exit(f"no test understands the statement {statement}")
    for name in ("Action", "Resource"):
        if isinstance(statement.get(name), str):
            statement[name] = [statement[name]]
    return statement


template = read("template.yaml")
del template["Globals"]["Function"]["CodeUri"]
for resource in template["Resources"].values():
    if resource["Type"] == "AWS::Serverless::Function":
        resource["Properties"]["CodeUri"] = "s3://bucket/key"
translator = Translator({}, Parser(), boto_session=boto3.Session(region_name="eu-central-1"))
stacks = {"deploy/role.yaml": read("deploy/role.yaml")}
for name in ("dev gradual", "staging gradual", "production gradual", "production at-once"):
    stage, shift = name.split()
    stacks[name] = translator.translate(copy.deepcopy(template), {"Stage": stage, "Shift": shift})

with open("samconfig.toml", "rb") as file:
    config = tomllib.load(file)
environments = {}
for name in ("dev", "staging", "production"):
    deploy = config[name]["deploy"]["parameters"]
    shared, own, build = deploy["parameter_overrides"]
    environments[name] = {"Stack": deploy["stack_name"], "Parameters": read(shared.removeprefix("file://")) | own}
json.dump({"Stacks": with_references_as_text(stacks), "Environments": environments}, sys.stdout)
