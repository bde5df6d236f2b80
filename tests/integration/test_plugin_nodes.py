"""Capacity, allocatable and nodeInfo of Nodes are in the caches where a plugin asks for them."""

import os

from tests.support import objects


def test_what_nodes_can_do(world, build, tmp_path):
    file = os.path.abspath(os.path.join(build, "tests", "abi", "sizing.so"))
    config = tmp_path / "sizing.conf"
    config.write_text(
        f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
        f'admin: {{ listen = "127.0.0.1:0"; }};\nplugins = ( {{ name = "sizing"; file = "{file}"; }} );\n')
    node = objects.node("n-1", "i-1")
    node["status"].update(capacity={"cpu": "4", "memory": "8148204Ki"}, allocatable={"cpu": "3920m"},
                          nodeInfo={"kubeletVersion": "v1.31.2", "osImage": "Linux 3"})
    world.kube.create(node)
    world.start_ccmd(str(config))
    for where in ("cache", "server"):
        world.logged(f" info  sizing n-1: {where}: 2 of capacity, cpu 4, allocatable 3920m, kubelet v1.31.2\n")
    world.kube.patch("Node", "n-1", {"status": {"allocatable": {"cpu": "2"}}}, subresource="status")
    world.logged(" info  sizing n-1: cache: 2 of capacity, cpu 4, allocatable 2, kubelet v1.31.2\n")
