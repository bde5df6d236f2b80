"""What ccmd deletes because it has no Service: nothing but what a restored API server could not know of.

A backup that is older than the finalizer gives back a Service that nobody holds: when its owner deletes it before ccmd has it again, its
load balancer is left over, and only the option orphan_cleanup takes it away. All else that goes that way has been lost by ccmd.
"""

import os
import re
import time

from tests.support.products import OWNER_TAG, PRODUCTS, default_name

from .trace import Finding

LINE = re.compile(r"^.* orphans: (?!.* stays )(.*)$", re.M)
EVERY_S = 2.0  # what has no Service is there for longer
KINDS = (("loadBalancers", "LoadBalancerId"), ("nlbLoadBalancers", "LoadBalancerId"), ("acls", "AclId"),
         ("nlbServerGroups", "ServerGroupId"), ("securityGroups", "SecurityGroupId"))
FINALIZERS = {kind.finalizer for kind in PRODUCTS.values()}


class Orphans:
    def __init__(self, setting, trace):
        self.world = setting.world
        self.trace = trace
        self.owners = {}  # id of a thing -> name that its Service gives to load balancers
        self.unheld = set()  # such names: of Services that a restored server has without finalizer
        self.offsets = {}  # log file -> how far it was read
        self.next = 0.0

    def restored(self, backup):
        for item in backup["services"]:
            if not FINALIZERS & set(item["metadata"].get("finalizers", [])):
                self.unheld.add(default_name(item["metadata"]["uid"]))

    def look(self):
        """Remember what belongs to whom; as often as it is worth it."""
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + EVERY_S
        state = self.world.cloud.state()
        for kind, key in KINDS:
            for item in state.get(kind, []):
                owner = item.get("Tags", {}).get(OWNER_TAG)
                if owner is not None:
                    self.owners[item[key]] = owner

    def check(self):
        """Each of those that were deleted had a reason to be there."""
        for text in self._news():
            things = [word for word in re.split(r"[\s,;]+", text) if word in self.owners]
            if not things or "deleted" not in text:
                raise Finding(f"not understood: orphans: {text}")
            for thing in things:
                self.trace.note("orphan deleted", thing, self.owners[thing])
                if self.owners[thing] not in self.unheld:
                    raise Finding(f"ccmd has lost and deleted {text}, owner {self.owners[thing]}")

    def _news(self):
        found = []
        for name in sorted(os.listdir(self.world.folder)):
            if name.startswith("ccmd-") and name.endswith(".err"):
                with open(os.path.join(self.world.folder, name), encoding="utf-8", errors="replace") as file:
                    file.seek(self.offsets.get(name, 0))
                    found += LINE.findall(file.read())
                    self.offsets[name] = file.tell()
        return found
