"""Runs ministack, a local AWS emulator, and adds what template.yaml needs and ministack lacks:

- SAM's transform gets the template's parameter values.
- The OpenAPI body of an HTTP API becomes routes, integrations and authorizers.
- Alarms on metric math become placeholders.
- The stack's Url output is an address on this machine.
- Plain HTTP counts as TLS, because the `sam deploy` bucket accepts nothing else.

It replaces functions inside ministack, so it may have to change with ministack's version, which .ci/run pins.
"""
import copy
import json
import os
import re

from ministack import app
from ministack.services.cloudformation import changesets, engine
from samtranslator.translator.transform import transform as sam


def transform(template, given=None, previous=None, original=changesets._apply_transforms):
    if "Transform" not in template:
        return original(template, given, previous)
    parameters = engine._transform_parameters(template, given, previous)
    template = sam(copy.deepcopy(template), parameters, engine._NO_IAM_POLICY_LOADER)
    for name, resource in list(template["Resources"].items()):
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            template["Resources"][name] = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
        elif resource["Type"] == "AWS::ApiGatewayV2::Api":
            template["Resources"].update(parts(name, resource["Properties"].pop("Body")))
            local = "http://127.0.0.1:%s/_aws/execute-api/${%s}" % (os.environ["GATEWAY_PORT"], name)
            outputs = re.sub(r"https://\$\{%s\}[^\"]*" % name, local, json.dumps(template["Outputs"]))
            template["Outputs"] = json.loads(outputs)
    return template


def parts(api, body):
    """Returns the resources that the OpenAPI body of an HTTP API describes."""
    resources = {}

    def add(name, kind, **properties):
        resources[name] = {"Type": f"AWS::ApiGatewayV2::{kind}", "Properties": {"ApiId": {"Ref": api}, **properties}}
        return {"Ref": name}

    authorizers = {}
    for name, scheme in body["components"]["securitySchemes"].items():
        members = scheme["x-amazon-apigateway-authorizer"].items()
        properties = {key[0].upper() + key[1:]: value for key, value in members if key != "type"}
        authorizers[name] = add(name, "Authorizer", **properties, Name=name, AuthorizerType="REQUEST")
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            number = len(resources)
            function = operation["x-amazon-apigateway-integration"]
            target = add(f"Integration{number}", "Integration", IntegrationType="AWS_PROXY",
                         IntegrationUri=function["uri"], PayloadFormatVersion=function["payloadFormatVersion"])
            add(f"Route{number}", "Route", RouteKey=f"{method.upper()} {path}", AuthorizationType="CUSTOM",
                Target={"Fn::Join": ["/", ["integrations", target]]},
                AuthorizerId=authorizers[next(iter(operation["security"][0]))])
    return resources


changesets._apply_transforms = transform
app.pin_request_origin = lambda address, _, original=app.pin_request_origin: original(address, True)
app.main()
