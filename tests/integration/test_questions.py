"""docs/questions.md: its commands work, and the events it names are ones that there are."""

import re
import shlex

from tests.support import views
from tests.support.owned import Console
from tests.support.pages import ROOT

# Words of the page that look like reasons of events and are none.
OTHERS = {"LoadBalancerReady", "NotReady", "EndpointSlices", "ConsoleProtection", "Cluster", "Local", "Proxy", "Throttling"}


def read(name):
    with open(f"{ROOT}/docs/{name}", encoding="utf-8") as file:
        return file.read()


def commands(text):
    """Those of kubectl, in the order of the page."""
    return [shlex.split(one) for one in re.findall(r"(?:^|`)kubectl ([^`\n]+)", text, re.M)]


def test_commands(world):
    console = Console(world, "clb")
    views.nodes(world, 1)
    first = console.serving("web")
    found = commands(read("questions.md"))
    assert {tuple(one[:2]) for one in found} >= {("describe", "service"), ("get", "service"), ("get", "endpointslices"), ("get", "services"), ("patch", "service")}
    for command in found:
        patches = command[0] == "patch"
        if patches:
            world.cloud.edit("delete", type="loadbalancer", id=first)
        if len(command) == 1:  # its name alone
            continue
        said = world.kubectl(*[part.replace("NAME", "web") for part in command])
        assert said.strip() or command[1] == "endpointslices", command
        if patches:
            world.wait(lambda: world.kube.ingress("web") and first not in [lb["LoadBalancerId"] for lb in console.lbs()] and console.lbs(), "another one", 30)


def test_events_that_are_named():
    reasons = set(re.findall(r"^\| `(\w+)` \| (?:Normal|Warning|condition)", read("troubleshooting.md"), re.M))
    named = set(re.findall(r"`((?:[A-Z][a-z]+){2,})`", read("questions.md"))) - OTHERS
    assert len(named) > 8 and named <= reasons, named - reasons
