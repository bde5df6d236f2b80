"""Absence is no order to delete for Gateways either: the tests of test_missing.py that are about nodes and slices, with a Gateway whose
route sends to the Service in place of a Service with a load balancer."""

import pytest

from tests.integration import test_missing as missing
from tests.support import views
from tests.support.gateway_api import GatewayWorld, backend, listener, service

pytestmark = pytest.mark.time_scale(10)


class Product:
    name = "gateway"


class One(missing.World):
    def __init__(self, world):
        super().__init__(world, Product())
        self.api = GatewayWorld(world)

    def begin(self, nodes=3, options="", services=("web",), endpoints=None, extra="", policy="Cluster", annotations=None):
        assert extra == ""
        self.api.define()
        self.api.configure(options)
        self.api.make_class()
        views.nodes(self.world, nodes)
        for name in services:
            made = service(name, externalTrafficPolicy=policy)
            self.kube.create(made)
            if endpoints is not None:
                self.slice(made, endpoints)
            self.api.make_gateway(listener("tcp", 80), name=name, annotations=annotations)
            self.api.make_route(name, backend(name), gateway=name)
        self.world.start_ccmd()
        self.world.wait(lambda: all(self.api.programmed(name) for name in services), "addresses", timeout=40)
        self.world.settled()
        self.since = self.cloud.mark()

    def groups(self):
        return [sorted((server, weight) for server, _, weight in group["servers"])
                for lb in self.api.load_balancers() for group in lb["Groups"]]


@pytest.fixture
def one(world):
    return One(world)


@pytest.mark.parametrize("name", [
    "one_after_the_other", "what_may_go_goes_by_itself", "half_of_a_large_group", "all_at_once", "a_node_that_comes_back_has_not_gone",
    "weights_of_frozen_backends_stay", "pods_as_backends_do_not_care_for_nodes", "a_restart_is_no_new_window",
    "a_node_that_is_deleted_goes_at_once", "nodes_that_are_deleted_in_number", "instances_that_are_gone_go", "several_services_ask_once",
    "a_list_that_lacks_nodes", "one_node_is_missing_for_long", "a_restart_with_missing_nodes"])
def test_as_for_services(one, name):
    getattr(missing, "test_" + name)(one)


@pytest.mark.parametrize("name", ["a_list_that_lacks_slices", "a_slice_that_is_deleted_is_obeyed"])
@pytest.mark.parametrize("options", [{"policy": "Local"}, {"annotations": {"service.beta.kubernetes.io/backend-type": "eni"}}],
                         ids=["local", "pods"])
def test_slices_as_for_services(one, name, options):
    getattr(missing, "test_" + name)(one, options)


@pytest.mark.parametrize("name", ["one_slice_of_two", "slices_that_stay_away", "a_restart_without_slices"])
def test_more_of_slices(one, name):
    getattr(missing, "test_" + name)(one)
