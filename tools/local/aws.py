"""Serves a local AWS: ministack, with what it lacks for template.yaml.

- SAM's transform gets the values of the template's parameters.
- The OpenAPI body of an HTTP API becomes routes, integrations and authorizers.
- CodeDeploy and alarms on metric math become placeholders: a deployment shifts all
  traffic at once, and such an alarm never fires.
- A stack's outputs name the address of an HTTP API on this machine. Its name in AWS
  could be that of somebody else's API.
- An update that is cancelled while a WaitCondition waits is rolled back at once.
- Plain HTTP counts as TLS, because the bucket of `sam deploy` accepts nothing else.
- Web pages reach the deployed APIs and nothing else. Otherwise, any page in a browser on
  this machine could create a function and run it here.

docs/local-aws.md says what it does not show.
"""
import copy
import http.server
import json
import os
import re
import signal
import socketserver
import sys
import tempfile

# ministack runs the code of functions from a folder of a known name, which another user of
# this machine may have made. So its files are in a new folder, which this user alone may
# enter. It is removed at the end, also after these signals.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ministack replaces this
if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup ignores it
    signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
private = tempfile.TemporaryDirectory(prefix="local-aws-")
tempfile.tempdir = os.environ["STATE_DIR"] = os.environ["S3_DATA_DIR"] = private.name

from ministack import app
from ministack.services.cloudformation import changesets, engine, handlers, wait_conditions
from samtranslator.translator import transform as sam


def transform(template, given=None, previous=None, original=changesets._apply_transforms):
    """Returns a template after its transform, with only what ministack supports."""
    if "Transform" not in template:
        return original(template, given, previous)
    parameters = engine._transform_parameters(template, given, previous)
    template = sam.transform(copy.deepcopy(template), parameters, engine._NO_IAM_POLICY_LOADER)
    for name, resource in list(template["Resources"].items()):
        kind, properties = resource["Type"], resource.get("Properties", {})
        if kind == "AWS::ApiGatewayV2::Api":
            template["Resources"].update(parts(name, properties))
            template["Outputs"] = with_address(name, template["Outputs"])
        elif kind.startswith("AWS::CodeDeploy::") or kind == "AWS::CloudWatch::Alarm" and "Metrics" in properties:
            resource["Type"] = "AWS::CloudFormation::WaitConditionHandle"
            resource.pop("Properties")
    return template


def parts(api, properties):
    """Takes the OpenAPI body out of an HTTP API's properties. Returns the resources that it describes."""
    body = properties.pop("Body")
    if "x-amazon-apigateway-cors" in body:
        properties["CorsConfiguration"] = body["x-amazon-apigateway-cors"]
    resources = {}

    def add(name, kind, values):
        values = {key[0].upper() + key[1:]: value for key, value in values.items()}
        resources[name] = {"Type": f"AWS::ApiGatewayV2::{kind}", "Properties": {"ApiId": {"Ref": api}, **values}}
        return {"Ref": name}

    authorizers = {}
    for name, scheme in body.get("components", {}).get("securitySchemes", {}).items():
        authorizer = scheme["x-amazon-apigateway-authorizer"]
        authorizer.update(name=name, authorizerType=authorizer.pop("type").upper())
        authorizers[name] = add(api + name, "Authorizer", authorizer)
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            number = len(resources)
            integration = operation["x-amazon-apigateway-integration"]
            target = add(f"{api}Integration{number}", "Integration", {
                "integrationType": integration["type"].upper(), "integrationUri": integration["uri"],
                "payloadFormatVersion": integration["payloadFormatVersion"]})
            route = {"routeKey": f"{method.upper()} {path}", "target": {"Fn::Join": ["/", ["integrations", target]]}}
            for requirement in operation.get("security", []):
                for name in requirement:
                    route.update(authorizationType="CUSTOM", authorizerId=authorizers[name])
            add(f"{api}Route{number}", "Route", route)
    return resources


def with_address(api, outputs):
    """Returns a stack's outputs with the address that an HTTP API has on this machine."""
    aws = r"https://\$\{%s\}\.execute-api\.[^\"]*" % api
    local = "http://127.0.0.1:%s/_aws/execute-api/${%s}" % (os.environ["GATEWAY_PORT"], api)
    return json.loads(re.sub(aws, local, json.dumps(outputs)))


def cancel_update_stack(params, original=handlers._cancel_update_stack):
    """Cancels an update, and ends what it waits for."""
    answer = original(params)
    if answer[0] == 200:
        for stack, resource in list(wait_conditions._waiting):
            wait_conditions.signal_resource(stack, resource, "cancelled", "FAILURE")
    return answer


def pin_request_origin(address, _secure, original=app.pin_request_origin):
    original(address, True)


def is_local(host):
    """Returns whether a Host header names this machine.

    Host is the name in a page's address, even if that name leads here by DNS rebinding.
    """
    return re.fullmatch(r"(127\.0\.0\.1|localhost)(:[0-9]+)?", host or "") is not None


def is_allowed(scope):
    """Returns whether a request may be served.

    Browsers send Origin or Sec-Fetch-Site. A typed address has the site none, and keeps it
    when another server redirects it here.
    """
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    if not is_local(headers.get("host")):
        return False
    is_from_browser = "origin" in headers or "sec-fetch-site" in headers
    # Only with an API and a stage in it does a path lead to an API. With less, as in
    # /_aws/execute-api/x, the headers and the query can name any operation of AWS.
    return not is_from_browser or app._parse_execute_api_url("", scope["path"]) is not None


async def guarded(scope, receive, send, original=app.app):
    """Serves a request of ASGI if it is allowed."""
    if scope["type"] == "lifespan" or is_allowed(scope):
        await original(scope, receive, send)
    elif scope["type"] == "websocket":
        await send({"type": "websocket.close"})
    else:
        await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"The local AWS refuses web pages and foreign hosts.\n"})


def parse_request(handler, original=http.server.BaseHTTPRequestHandler.parse_request):
    """Parses a request to the Runtime API of a function, whose port is random but open to pages."""
    if not original(handler):
        return False
    from_browser = handler.headers["Origin"] or handler.headers["Sec-Fetch-Site"]
    if from_browser or not is_local(handler.headers["Host"]):
        handler.send_error(403)
        return False
    return True


app.app = guarded
handlers._ACTION_HANDLERS["CancelUpdateStack"] = cancel_update_stack
http.server.BaseHTTPRequestHandler.parse_request = parse_request
changesets._apply_transforms = transform
app.pin_request_origin = pin_request_origin
socketserver.StreamRequestHandler.disable_nagle_algorithm = True  # saves 40 ms a call of a function
app.main()
