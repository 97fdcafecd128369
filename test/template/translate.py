"""Prints as JSON: the templates in deploy, the stacks that SAM makes of template.yaml, samconfig.toml
and the workflows. For each line of standard input, which has parameters, also prints which conditions of
template.yaml are met and which of its rules are broken. Runs in the root of the repository.
"""
import copy
import glob
import json
import os
import sys
import tomllib

import boto3
from samcli.lib.intrinsic_resolver.intrinsic_property_resolver import IntrinsicResolver
from samcli.lib.intrinsic_resolver.intrinsics_symbol_table import IntrinsicsSymbolTable
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
        case {"Fn::Join": [separator, items]}:
            return separator.join(items)
        case {"Fn::Sub": [text, variables]}:
            for name, meaning in variables.items():
                text = text.replace("${%s}" % name, meaning)
            return text
        case {"Fn::Sub": text}:
            return text
    return value


def verdict(template, parameters):
    """Returns the names of the conditions that are met with these parameters, and of the rules that are broken."""
    values = {name: parameter["Default"] for name, parameter in template["Parameters"].items()} | parameters
    evaluator = IntrinsicResolver(template, IntrinsicsSymbolTable(template, logical_id_translator=values))

    def is_true(expression):
        return evaluator.intrinsic_property_resolver(expression, ignore_errors=False)

    names = [name for name, condition in template["Conditions"].items() if is_true(condition)]
    for name, rule in template["Rules"].items():
        if is_true(rule["RuleCondition"]) and not all(is_true(assertion["Assert"]) for assertion in rule["Assertions"]):
            names.append("not " + name)
    return " ".join(sorted(names))


def nodes(place, value):
    """Returns what stands at a place, and at each below: a text, or JSON."""
    found = {place: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), sort_keys=True)}
    if isinstance(value, dict):
        members = value.items()
    else:
        members = enumerate(value) if isinstance(value, list) else []
    for name, member in members:
        found |= nodes(f"{place}.{name}", member)
    return found


template = read("template.yaml")
verdicts = [verdict(template, dict(item.split("=") for item in line.split())) for line in sys.stdin]
del template["Globals"]["Function"]["CodeUri"]
for resource in template["Resources"].values():
    if resource["Type"] == "AWS::Serverless::Function":
        resource["Properties"]["CodeUri"] = "s3://bucket/key"
references = {name: "${%s}" % name for name in template["Parameters"]}  # SAM writes the values of some parameters
translator = Translator({}, Parser(), boto_session=boto3.Session(region_name="eu-central-1"))
stacks = {name: read(name) for name in glob.glob("deploy/*.yaml")}
for name in ("dev gradual", "staging gradual", "production gradual", "production at-once"):
    stage, shift = name.split()
    stacks[name] = translator.translate(copy.deepcopy(template), references | {"Stage": stage, "Shift": shift})
stacks = with_references_as_text(stacks)
for stack in stacks.values():
    stack["Nodes"] = {}
    for name, resource in stack["Resources"].items():
        attributes = {attribute: value for attribute, value in resource.items() if attribute != "Properties"}
        stack["Nodes"] |= nodes(name, attributes | resource["Properties"])
    for section in ("Parameters", "Outputs"):
        for name, content in stack.get(section, {}).items():
            stack["Nodes"] |= nodes(f"{section}/{name}", content)
for name, resource in with_references_as_text(template["Resources"]).items():
    stacks["production gradual"]["Nodes"] |= nodes(f"SAM/{name}", resource["Properties"])

with open("samconfig.toml", "rb") as file:
    config = tomllib.load(file)
samconfig = {}
for name, block in config.items():
    if name != "version":
        others = {command: block[command] for command in block if command not in ("deploy", "local_invoke", "local_start_api")}
        samconfig |= nodes(name, block["deploy"]["parameters"] | others)
workflows = {}
for path in glob.glob(".github/workflows/*.yml"):
    name, _ = os.path.splitext(os.path.basename(path))
    workflow = read(path)
    workflow["on"] = workflow.pop(True)  # what YAML 1.1 reads
    for job, content in workflow.pop("jobs").items():
        workflows |= nodes(f"{name}/{job}", content)
    workflows |= nodes(name, workflow)
json.dump({"Stacks": stacks, "Verdicts": verdicts, "Samconfig": samconfig, "Workflows": workflows}, sys.stdout)
