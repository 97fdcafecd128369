"""Prints the stack that SAM makes of template.yaml, as JSON, for each set of parameters on stdin."""
import copy
import json
import sys

import boto3
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
json.dump([translator.translate(copy.deepcopy(template), parameters) for parameters in json.load(sys.stdin)], sys.stdout)
