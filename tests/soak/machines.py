"""Nodes that come, go, lose their readiness and get labels."""

from tests.support.scenario_route import node

from .setting import NODES

AT_LEAST = 4
EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers"


class Machines:
    def __init__(self, setting, random, trace):
        self.kube = setting.world.kube
        self.random = random
        self.trace = trace
        self.present = list(NODES[:6])
        self.unready = set()
        self.kube.create(*[node(name) for name in self.present])

    def act(self):
        what = self.random.choice(("add", "remove", "ready", "unready", "unready", "cordon", "uncordon", "exclude", "include"))
        name = self.random.choice(NODES if what == "add" else self.present)
        if (what == "add") == (name in self.present) or (what == "remove" and len(self.present) <= AT_LEAST):
            return
        self.trace.note("node", what, name)
        getattr(self, "_" + what)(name)

    def heal(self):
        """Who is there is well: what is frozen because of nodes that are not ready is no matter of healing."""
        for name in sorted(self.unready):
            self._ready(name)

    def _add(self, name):
        self.kube.create(node(name))
        self.present.append(name)
        self.present.sort()

    def _remove(self, name):
        self.kube.delete("Node", name)
        self.present.remove(name)
        self.unready.discard(name)

    def _condition(self, name, status):
        known = self.kube.get("Node", name)["status"].get("conditions", [])
        others = [one for one in known if one["type"] != "Ready"]
        self.kube.patch("Node", name, {"status": {"conditions": [{"type": "Ready", "status": status}, *others]}}, subresource="status")

    def _ready(self, name):
        self.unready.discard(name)
        self._condition(name, "True")

    def _unready(self, name):
        self.unready.add(name)
        self._condition(name, self.random.choice(("False", "Unknown")))

    def _cordon(self, name):
        self.kube.patch("Node", name, {"spec": {"unschedulable": True}})

    def _uncordon(self, name):
        self.kube.patch("Node", name, {"spec": {"unschedulable": None}})

    def _exclude(self, name):
        self.kube.patch("Node", name, {"metadata": {"labels": {EXCLUDE: ""}}})

    def _include(self, name):
        self.kube.patch("Node", name, {"metadata": {"labels": {EXCLUDE: None}}})
