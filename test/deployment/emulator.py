"""Runs ministack, a local AWS, with what template.yaml needs and it lacks: routes from an OpenAPI body, metric math in
alarms (left out), a Url on this machine, and HTTP as good as TLS, for the bucket of `sam deploy`. It replaces functions
inside ministack, so a new version may need a change here."""
import os

from ministack import app
from ministack.services.cloudformation import changesets


def transform(*arguments, original=changesets._apply_transforms):
    template = original(*arguments)
    for name, resource in list(template["Resources"].items()):
        properties = resource.get("Properties", {})
        if properties.pop("Metrics", None):
            properties.update(Namespace="none", MetricName="none")
        if body := properties.pop("Body", None):
            add_parts(template["Resources"], name, body)
            url = f"http://127.0.0.1:{os.environ['GATEWAY_PORT']}/_aws/execute-api/${{{name}}}"
            template["Outputs"]["Url"] = {"Value": {"Fn::Sub": url}}
    return template


def add_parts(resources, api, body):
    """Adds the authorizers, integrations and routes of an HTTP API. A route without an authorizer is an error."""

    def add(name, kind, **properties):
        resources[name] = {"Type": f"AWS::ApiGatewayV2::{kind}", "Properties": {"ApiId": {"Ref": api}, **properties}}

    for name, scheme in body["components"]["securitySchemes"].items():
        given = {key[0].upper() + key[1:]: value for key, value in scheme["x-amazon-apigateway-authorizer"].items()}
        add(name, "Authorizer", **given, Name=name, AuthorizerType="REQUEST")
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            integration = f"Integration{len(resources)}"
            add(integration, "Integration", IntegrationUri=operation["x-amazon-apigateway-integration"]["uri"])
            add(f"Route{len(resources)}", "Route", RouteKey=f"{method.upper()} {path}", AuthorizationType="CUSTOM",
                AuthorizerId={"Ref": next(iter(operation["security"][0]))},
                Target={"Fn::Sub": f"integrations/${{{integration}}}"})


changesets._apply_transforms = transform
app.pin_request_origin = lambda address, _, original=app.pin_request_origin: original(address, True)
app.main()
