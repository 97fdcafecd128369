"""Runs commands of the AWS CLI, one in a line of stdin, in one process. Prints those that send no request.

Each request is answered with status 400.
"""
import io
import shlex
import sys

from awscli.clidriver import create_clidriver
from botocore.awsrequest import AWSResponse

requests = []


def refuse(request, **_):
    requests.append(request)
    return AWSResponse(request.url, 400, {}, io.BytesIO())


cli = create_clidriver()
cli.session.register("before-send", refuse)
for command in sys.stdin.read().splitlines():
    print(command, file=sys.stderr)
    requests.clear()
    try:
        cli.main(shlex.split(command)[1:])
    except SystemExit:
        pass  # a mistake, or a failed request
    if not requests:
        print(command)
