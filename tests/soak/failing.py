"""Services that can never work: how often the cloud is asked for what it refuses must not grow with time."""

from tests.support import objects
from tests.support.products import PREFIX, PRODUCTS

PORT = 8443  # of no other Service
PER_REASON = 4  # passes that an event may cost: a start, another server, a node
AT_FIRST = 12
PER_MINUTE = 1.0
REASONS = ("kill -9", "SIGTERM", "taken over", "lease lost", "API server replaced", "node", "start")
KINDS = {"clb": ("https", "cert-none"), "nlb": ("tcpssl", "none")}


class Failing:
    def __init__(self, setting, trace):
        self.kube = setting.world.kube
        self.trace = trace
        self.asked = 0
        for name, (protocol, certificate) in KINDS.items():
            item = PRODUCTS[name]().new(f"bad-{name}", ((PORT, "TCP"),), policy="Local", annotations={
                PREFIX + "protocol-port": f"{protocol}:{PORT}", PREFIX + "cert-id": certificate})
            setting.world.kube.create(item, objects.endpoint_slice(item, [("10.1.1.1", "node-1")]))

    def look(self, calls):
        """How often it was asked among these calls."""
        self.asked += sum(call["action"] in ("CreateLoadBalancerHTTPSListener", "CreateListener")
                          and call["params"].get("ListenerPort") == str(PORT) for call in calls)

    def bound(self, minutes):
        """For all of them."""
        reasons = sum(self.trace.counts[name] for name in REASONS)
        return len(KINDS) * (AT_FIRST + PER_REASON * reasons + PER_MINUTE * minutes)

    def end(self):
        for name in KINDS:
            self.kube.delete("Service", f"bad-{name}")
            self.kube.delete("EndpointSlice", f"bad-{name}-abc")
