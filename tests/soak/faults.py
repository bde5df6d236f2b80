"""Trouble on both ways of ccmd: one request in twenty fails somehow, jobs of NLB end badly, watches break."""

from .setting import OURS

SHARE = 0.05
CLOUD = (
    {"code": "Throttling.User", "http": 400, "message": "Request was denied due to user flow control."},
    {"code": "InternalError", "http": 500, "message": "The request processing has failed."},
    {"cut": "before"}, {"cut": "after"}, {"delay_ms": 300}, {"truncate": 20},
)
SERVER = ({"http": 429}, {"http": 500}, {"cut": "before"}, {"cut": "after"}, {"delay_ms": 300}, {"truncate": 20})
# that of a creation is left out: a load balancer whose creation failed is for a person to delete
JOBS = ("CreateServerGroup", "AddServersToServerGroup", "RemoveServersFromServerGroup", "UpdateServerGroupServersAttribute",
        "CreateListener", "UpdateListenerAttribute", "DeleteListener", "DeleteServerGroup", "DeleteLoadBalancer")
WATCHES = ("drop", "garbage", "truncate", "error", "expire", "compact", "end")
WATCHED = ("services", "nodes", "endpointslices", None)


class Faults:
    def __init__(self, setting, random, trace):
        self.cloud = setting.world.cloud
        self.kube = setting.world.kube
        self.random = random
        self.trace = trace

    def begin(self):
        self._set(self.cloud, CLOUD)
        self.begin_server()

    def begin_server(self):
        """Of the API server: a new one has none."""
        ours = {"match": {"params": {"fieldManager": OURS}}, "effect": {"delay_ms": 1}}  # the first rule that acts wins
        self._set(self.kube, SERVER, [ours])

    @staticmethod
    def _set(simulator, effects, first=()):
        left = 1.0  # each takes its share of what the ones before it let through
        rules = list(first)
        for effect in effects:
            share = SHARE / len(effects)
            rules.append({"match": {"p": share / left}, "effect": effect})
            left -= share
        simulator.http.request("POST", "/_sim/faults", rules)

    def count(self):
        """Into the trace: how often they acted."""
        self._count("faults of the cloud", self.cloud, 0)
        self.count_server()

    def count_server(self):
        self._count("faults of the API server", self.kube, 1)

    def _count(self, what, simulator, first):
        rules = simulator.http.request("GET", "/_sim/faults")
        rules = rules["faults"] if isinstance(rules, dict) else rules
        self.trace.note(what, count=sum(rule["hits"] for rule in rules[first:]))

    def end(self):
        self.count()
        self.cloud.clear_faults()
        self.kube.clear_faults()
        self.cloud.edit("jobs", clear=True)

    def break_job(self):
        action, outcome = self.random.choice(JOBS), self.random.choice(("fail", "lose"))
        self.trace.note("job", outcome, action)
        self.cloud.edit("jobs", action=action, outcome=outcome, count=1)

    def break_watch(self):
        how, which = self.random.choice(WATCHES), self.random.choice(WATCHED)
        self.trace.note("watch", how, which)
        self.kube.watches(how, which)
