"""Requests of the controller before, as it sent them for Services with each annotation: cloudsim takes them as the cloud does.

captures.json: product, action and parameters; {id} stands for an object that the test makes, * for a token of its own."""

import json
import os
import re
import uuid

import pytest

from tests.integration.test_cloudsim import Sim
from tests.support.recipes import RECIPES, Kit
from tests.support.acs import flatten

with open(os.path.join(os.path.dirname(__file__), "captures.json"), encoding="utf-8") as captured:
    CAPTURES = json.load(captured)


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    sim = Sim(tmp_path_factory.mktemp("sim"), "--limit", "load-balancers=10000", "--limit", "nlb-load-balancers=10000")
    yield Kit(sim.client, sim.control)
    sim.process.stop()


def https(kit, lb):
    kit.listener(lb, 443, "HTTPS")
    return lb


def listener(kit, action, params):
    """What a listener of SLB needs: a load balancer, a group in it, the listener that it leads to, or that it changes."""
    lb = https(kit, kit.lb()) if "ForwardPort" in params else kit.lb()
    group = kit.client.slb("CreateVServerGroup", LoadBalancerId=lb, VServerGroupName="web")["VServerGroupId"]
    if not action.startswith("Create"):
        protocol = re.search("TCP|UDP|HTTPS|HTTP", action)
        protocol = protocol.group() if protocol else params.get("ListenerProtocol", "tcp").upper()
        kit.listener(lb, int(params["ListenerPort"]), protocol)
    return {"LoadBalancerId": lb, "VServerGroupId": group, "AclId": kit.acl()}


def made_for(kit, product, action, params):
    if product == "slb" and ("ListenerPort" in params and action != "CreateDomainExtension"):
        return listener(kit, action, params)
    if action in ("DescribeLoadBalancerListeners", "ListListeners"):
        lb = kit.lb() if product == "slb" else kit.nlb()
        return {name: lb for name in ("LoadBalancerId.1", "LoadBalancerIds.1")}
    if product == "nlb" and action == "CreateListener":
        plain = params["ListenerProtocol"] != "TCPSSL"
        return {"LoadBalancerId": kit.nlb(), "ServerGroupId": kit.servers(PreserveClientIpEnabled=plain)}
    return flatten(RECIPES[product, action](kit))


@pytest.mark.parametrize("capture", CAPTURES, ids=[f"{c['product']}-{c['action']}-{n}" for n, c in enumerate(CAPTURES)])
def test_request_is_taken(kit, capture):
    product, action = capture["product"], capture["action"]
    made = made_for(kit, product, action, capture["params"])
    params = {name: made[name] if value == "{id}" else uuid.uuid4().hex if value == "*" else value
              for name, value in capture["params"].items()}
    assert kit.client.call(product, action, **params)["RequestId"]
