"""Prints the settings of `sam deploy` in each environment of samconfig.toml, with the parameters as SAM reads them.

The parameters of a build are on stdin, as JSON.
"""
import json
import os
import shutil
import sys
import tempfile
import tomllib

from samcli.cli.types import CfnParameterOverridesType

with open("samconfig.toml", "rb") as file:
    config = tomllib.load(file)
environments = {name: block["deploy"]["parameters"] for name, block in config.items() if isinstance(block, dict) and "deploy" in block}
with tempfile.TemporaryDirectory() as folder:
    shutil.copy("environments.yaml", folder)
    os.chdir(folder)
    os.makedirs(".aws-sam/build")
    with open(".aws-sam/build/parameters.yaml", "w") as file:
        json.dump(json.load(sys.stdin), file)
    for settings in environments.values():
        settings["sources"] = [source if isinstance(source, str) else "its own list" for source in settings["parameter_overrides"]]
        settings["parameter_overrides"] = CfnParameterOverridesType().convert(settings["parameter_overrides"], None, None)
json.dump(environments, sys.stdout)
