"""Prints as JSON the stacks that SAM makes of template.yaml, deploy/role.yaml, and the parameters that
samconfig.toml gives each environment. Runs in the root of the repository.
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


def referring(value):
    """Writes each reference, by Ref or by Fn::GetAtt, as in the text of Fn::Sub, such as ${Log.Arn}.

    A statement of IAM that has a condition of CloudFormation's is one without it.
    """
    if isinstance(value, list):
        return [referring(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {name: referring(member) for name, member in value.items()}
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
        case {"Fn::If": [_, {"Effect": _} as statement, _]}:
            return statement
        case {"Effect": _}:
            return with_lists(value)
    return value


def with_lists(statement):
    """Returns a statement of IAM with a list of actions, and one of resources. The tests read only these names."""
    assert statement.keys() <= {"Effect", "Principal", "Action", "Resource", "Condition"}, statement
    texts = {name: value for name, value in statement.items() if name in ("Action", "Resource") and isinstance(value, str)}
    return statement | {name: [text] for name, text in texts.items()}


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
json.dump({"Stacks": referring(stacks), "Environments": environments}, sys.stdout)
