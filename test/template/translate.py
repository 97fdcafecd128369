"""Prints as JSON: the stacks that SAM makes of template.yaml, the golden file's text, and templates that SAM does
not translate. Runs in the root of the repository.
"""
import copy
import json
import re
import sys

import boto3
import yaml
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


def translated(template, stage, shift):
    """Returns the stack that SAM makes of a template. Its versions have no hash in their names."""
    template = copy.deepcopy(template)
    references = {name: "${%s}" % name for name in template["Parameters"]}  # SAM writes the values of some parameters
    translator = Translator({}, Parser(), boto_session=boto3.Session(region_name="eu-central-1"))
    stack = translator.translate(template, references | {"Stage": stage, "Shift": shift})
    text = json.dumps(with_references_as_text(stack))
    return json.loads(re.sub("(FunctionVersion)[0-9a-f]{10}", r"\1", text))


class Dumper(yaml.SafeDumper):
    """Writes a short collection in one line, and a text of several lines in as many."""

    def represent_mapping(self, tag, mapping, flow_style=None):
        return super().represent_mapping(tag, mapping, len(json.dumps(mapping)) < 110)

    def represent_sequence(self, tag, sequence, flow_style=None):
        return super().represent_sequence(tag, sequence, len(json.dumps(sequence)) < 110)

    def represent_str(self, text):
        return self.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)


Dumper.add_representer(str, Dumper.represent_str)


template = read("template.yaml")
stacks = {"template.yaml": with_references_as_text(template)}
stacks["deploy/account.yaml"] = with_references_as_text(read("deploy/account.yaml"))
stacks["deploy/role.yaml"] = with_references_as_text(read("deploy/role.yaml"))
template["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
for name in ("dev gradual", "staging gradual", "production gradual", "production at-once"):
    stacks[name] = translated(template, *name.split())
golden = yaml.dump(stacks["production gradual"], Dumper=Dumper, width=120)
json.dump({"Stacks": stacks, "Golden": golden}, sys.stdout)
