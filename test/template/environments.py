"""Prints the settings of `sam deploy` in each environment of samconfig.toml, with the parameters as SAM reads them."""
import json
import sys
import tomllib

from samcli.cli.types import CfnParameterOverridesType

with open("samconfig.toml", "rb") as file:
    config = tomllib.load(file)
environments = {name: block["deploy"]["parameters"] for name, block in config.items() if isinstance(block, dict) and "deploy" in block}
for settings in environments.values():
    settings["parameter_overrides"] = CfnParameterOverridesType().convert(settings["parameter_overrides"], None, None)
json.dump(environments, sys.stdout)
