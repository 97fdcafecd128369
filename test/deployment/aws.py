"""Serves ministack, a local AWS, with what it lacks for template.yaml:

- SAM's transform gets the values of the template's parameters.
- The OpenAPI body of an HTTP API becomes routes, integrations and authorizers.
- CodeDeploy and alarms on metric math become placeholders.
- The stack's output Url is the address on this machine.
- Plain HTTP counts as TLS, because the bucket of `sam deploy` accepts nothing else.
"""
import copy
import json
import os
import re
import socketserver

from ministack import app
from ministack.services.cloudformation import changesets, engine
from samtranslator.translator.transform import transform as sam


def transform(template, given=None, previous=None, original=changesets._apply_transforms):
    if "Transform" not in template:
        return original(template, given, previous)
    parameters = engine._transform_parameters(template, given, previous)
    template = sam(copy.deepcopy(template), parameters, engine._NO_IAM_POLICY_LOADER)
    for name, resource in list(template["Resources"].items()):
        kind = resource["Type"]
        if kind == "AWS::ApiGatewayV2::Api":
            template["Resources"].update(parts(name, resource["Properties"].pop("Body")))
            local = "http://127.0.0.1:%s/_aws/execute-api/${%s}" % (os.environ["GATEWAY_PORT"], name)
            template["Outputs"] = json.loads(re.sub(r"https://\$\{%s\}[^\"]*" % name, local, json.dumps(template["Outputs"])))
        elif kind.startswith("AWS::CodeDeploy::") or kind == "AWS::CloudWatch::Alarm" and "Metrics" in resource["Properties"]:
            template["Resources"][name] = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
    return template


def parts(api, body):
    """Returns the resources that the OpenAPI body of an HTTP API describes."""
    resources = {}

    def add(name, kind, **properties):
        resources[name] = {"Type": f"AWS::ApiGatewayV2::{kind}", "Properties": {"ApiId": {"Ref": api}, **properties}}
        return {"Ref": name}

    authorizers = {}
    for name, scheme in body["components"]["securitySchemes"].items():
        authorizer = {key[0].upper() + key[1:]: value for key, value in scheme["x-amazon-apigateway-authorizer"].items()}
        kind = authorizer.pop("Type").upper()
        authorizers[name] = add(name, "Authorizer", **authorizer, Name=name, AuthorizerType=kind)
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            number = len(resources)
            integration = operation["x-amazon-apigateway-integration"]
            target = add(f"Integration{number}", "Integration", IntegrationType=integration["type"].upper(),
                         IntegrationUri=integration["uri"], PayloadFormatVersion=integration["payloadFormatVersion"])
            add(f"Route{number}", "Route", RouteKey=f"{method.upper()} {path}", Target={"Fn::Join": ["/", ["integrations", target]]},
                AuthorizationType="CUSTOM", AuthorizerId=authorizers[next(iter(operation["security"][0]))])
    return resources


changesets._apply_transforms = transform
app.pin_request_origin = lambda address, _, original=app.pin_request_origin: original(address, True)
socketserver.StreamRequestHandler.disable_nagle_algorithm = True  # saves 40 ms a call of a function
app.main()
