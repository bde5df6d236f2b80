"""Many nodes join, change, stop, start, take another name, share an instance, and go, while one request in twenty fails."""

import time

from . import cloud_nodes as nodes
from .proc import SLOW

OURS = "lives"  # the field manager by which the API server tells our requests from those of ccmd
FAILING = 0.05
CLOUD = ({"code": "Throttling.User", "http": 400, "message": "Request was denied due to user flow control."},
         {"code": "InternalError", "http": 500, "message": "The request processing has failed."},
         {"cut": "before"}, {"cut": "after"}, {"truncate": 20})
SERVER = ({"http": 429}, {"http": 500}, {"cut": "before"}, {"cut": "after"}, {"truncate": 20})
TYPES = ("ecs.g7.large", "ecs.g7.xlarge", "ecs.c7.large")
CHANGES = ("label", "stop", "start", "rename", "twin", "drain")


class Life:
    def __init__(self, number):
        self.instance = f"i-life-{number}"
        self.names = [f"life-{number}"]  # of the nodes that say they are on this instance
        self.left = 0  # changes before it is released
        self.released = False


class Lives:
    """slots: as many at the same time. Changes come whatever ccmd is at; an instance goes when all of its nodes have been
    initialised: a node whose instance nobody has seen is never deleted, it may be of another account."""

    def __init__(self, world, random, slots):
        self.world = world
        self.random = random
        self.slots = slots
        self.begun = 0
        self.ended = 0
        self.living = []
        self.kills = 0
        self.stops = 0
        self._mark_our_requests()

    def _mark_our_requests(self):
        request = self.world.kube.http.request

        def marked(method, path, *args, **kwargs):
            if not path.startswith("/_sim"):
                path += ("&" if "?" in path else "?") + f"fieldManager={OURS}"
            return request(method, path, *args, **kwargs)

        self.world.kube.http.request = marked

    def begin_faults(self):
        ours = {"match": {"params": {"fieldManager": OURS}}, "effect": {"delay_ms": 1}}  # the first rule that acts wins
        for simulator, effects, first in ((self.world.cloud, CLOUD, []), (self.world.kube, SERVER, [ours])):
            left, rules = 1.0, list(first)
            for effect in effects:
                share = FAILING / len(effects)
                rules.append({"match": {"p": share / left}, "effect": effect})
                left -= share
            simulator.http.request("POST", "/_sim/faults", rules)

    def end_faults(self):
        """Requests of ccmd, watches among them: how many there were, and how many of them have failed."""
        seen = failed = 0
        for simulator in (self.world.cloud, self.world.kube):
            rules = [rule for rule in simulator.http.request("GET", "/_sim/faults")["faults"] if rule["delay_ms"] == 0]
            seen += rules[0]["seen"]
            failed += sum(rule["hits"] for rule in rules)
            simulator.clear_faults()
        return seen, failed

    # ---- what happens to one ----

    def _register(self, name, instance):
        self.world.kube.http.request("POST", "/api/v1/nodes", nodes.register(name, instance))

    def join(self):
        self.begun += 1
        life = Life(self.begun)
        life.left = self.random.randint(1, 4)
        self.world.cloud.http.request("POST", "/_sim/instances", {"instances": [{"id": life.instance, "vswitch": "vsw-a"}]})
        self._register(life.names[0], life.instance)
        self.living.append(life)

    def change(self, life):
        life.left -= 1
        getattr(self, "_" + self.random.choice(CHANGES))(life)

    def _edit(self, life, **attributes):
        self.world.cloud.edit("update", type="instance", id=life.instance, attributes=attributes)

    def _label(self, life):
        self._edit(life, InstanceType=self.random.choice(TYPES))

    def _stop(self, life):
        self._edit(life, Status="Stopped")
        for name in life.names:
            nodes.ready(self.world, name, "Unknown")

    def _start(self, life):
        self._edit(life, Status="Running")
        for name in life.names:
            nodes.ready(self.world, name, "True")

    def _rename(self, life):
        """Its kubelet got another --hostname-override."""
        name = f"{life.names[0]}-r"
        self.world.kube.delete("Node", life.names[0])
        life.names[0] = name
        self._register(name, life.instance)

    def _twin(self, life):
        if len(life.names) == 1:
            life.names.append(f"{life.names[0]}-twin")
            self._register(life.names[1], life.instance)

    def _drain(self, life):
        self.world.kube.patch("Node", life.names[0], {"spec": {"unschedulable": True}})

    def _is_initialised(self, life, there):
        return all(nodes.SEEN in there[name]["metadata"]["labels"] and nodes.NEW not in
                   [taint["key"] for taint in there[name]["spec"].get("taints", [])] for name in life.names)

    def _release(self, life):
        life.released = True
        self.world.cloud.edit("delete", type="instance", id=life.instance)
        for name in life.names:
            nodes.ready(self.world, name, "Unknown")

    def _bury(self, there):
        gone = [life for life in self.living if life.released and not any(name in there for name in life.names)]
        self.living = [life for life in self.living if life not in gone]
        self.ended += len(gone)
        lost = [name for life in self.living if not life.released for name in life.names if name not in there]
        assert not lost, f"deleted although their instances are there: {lost}"

    # ---- all of them ----

    def _restart(self):
        """Without a warning, and the next time with one."""
        if self.kills > self.stops:
            self.stops += 1
            self.world.stop_ccmd()
        else:
            self.kills += 1
            self.world.kill_ccmd()
        self.world.start_ccmd()

    def _step(self, count):
        there = nodes.all_nodes(self.world)
        self._bury(there)
        for life in [life for life in self.living if not life.released and self.random.random() < 0.7]:
            if life.left > 0:
                self.change(life)
            elif self._is_initialised(life, there):
                self._release(life)
        while self.begun < count and len(self.living) < self.slots:
            self.join()

    def run(self, count, restart_every):
        """Until so many lives have begun and ended. restart_every: lives between two ends of ccmd. Each step comes when ccmd has
        asked the cloud once more."""
        deadline = time.monotonic() + (60 + count) * SLOW
        next_restart = restart_every
        while self.ended < count:
            assert time.monotonic() < deadline, \
                f"{self.ended} of {count} lives have ended, not {[life.names for life in self.living][:5]}"
            mark = self.world.cloud.mark()
            self._step(count)
            if self.ended >= next_restart:
                next_restart += restart_every
                self._restart()
            self.world.wait(lambda: self.world.cloud.mark() > mark, "a call of the cloud", timeout=60, every=0.02)

    def are_as_in_the_cloud(self, survivors):
        """Those that nobody releases: all there, none tainted, and as the cloud has them."""
        instances = {item["InstanceId"]: item for item in self.world.cloud.state()["instances"]}
        there = nodes.all_nodes(self.world)
        assert sorted(there) == sorted(survivors)
        for name, item in there.items():
            machine = instances[item["spec"]["providerID"].split(".", 1)[1]]
            if nodes.SEEN not in item["metadata"]["labels"] or ("InternalIP", machine["PrivateIp"]) not in nodes.addresses(item):
                return False
        return True
