"""Life cycles of Services: each slot has one Service after the other, and changes it in between."""

import urllib.error

from .setting import REUSED
from .wish import PORTS, RANGES, Wish

CHANGES = (("scale", 30), ("annotate", 14), ("ports", 9), ("policy", 5), ("ranges", 5), ("type", 5), ("class", 3), ("backends", 2),
           ("end", 14), ("replace", 5))


class Lives:
    def __init__(self, setting, random, trace, slots):
        self.kube = setting.world.kube
        self.ids = setting.ids
        self.random = random
        self.trace = trace
        self.wishes = [None] * slots  # of each slot; None: nothing is there
        self.waiting = {}  # slot -> what takes the name of one that has not gone yet
        self.born = 0
        self.ended = 0  # Services that ccmd held when they were deleted: it had work with their end

    def act(self):
        """One change of one slot."""
        self._retry()
        slot = self.random.randrange(len(self.wishes))
        if self.wishes[slot] is None:
            self.begin(slot)
            return
        names, shares = zip(*CHANGES)
        what = self.random.choices(names, shares)[0]
        wish = self.wishes[slot]
        change = getattr(self, "_" + what)(wish, slot)  # draws in any case, so that the sequence is that of the seed
        if slot not in self.waiting:
            self._carry_out(change, wish, what)

    def change_small(self):
        """A change that neither makes nor ends anything."""
        slot = self.random.randrange(len(self.wishes))
        what = self.random.choice(("scale", "annotate"))
        wish = self.wishes[slot]
        if wish is not None:
            change = getattr(self, "_" + what)(wish, slot)
            if slot not in self.waiting:
                self._carry_out(change, wish, what)

    def begin(self, slot, name=None):
        self.born += name is None
        reuse = {product: self.ids[f"{product}-reuse-{slot}"] for product in ("clb", "nlb")} if slot < REUSED else {}
        wish = self.wishes[slot] = Wish(name or f"s{self.born}", self.random, reuse)
        self.waiting[slot] = wish
        self._retry()

    def _retry(self):
        for slot, wish in list(self.waiting.items()):
            try:
                self.kube.create(wish.service())
            except urllib.error.HTTPError as error:
                if error.code == 409:
                    continue
                raise AssertionError(f"{wish.service()}: {error.read().decode()}") from None
            del self.waiting[slot]
            self.trace.note("created", wish.name, wish.product, wish.policy, wish.ports, wish.annotations())
            for item in wish.slices():
                self._put(item)

    def _carry_out(self, change, wish, what):
        try:
            change()
        except urllib.error.HTTPError as error:
            self.trace.note("refused", what, wish.name, error.code, error.read().decode()[:300])

    def _put(self, item):
        try:
            self.kube.create(item)
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise
            self.kube.replace(item)

    def _patch(self, wish, body, what):
        self.trace.note("changed", wish.name, what, body)
        self.kube.patch("Service", wish.name, body)

    def _slices(self, wish):
        for item in wish.slices():
            self._put(item)

    # --- changes: drawn now, carried out by what is returned ---

    def _scale(self, wish, _):
        wish.draw_pods()

        def change():
            self.trace.note("changed", wish.name, "pods", len(wish.pods))
            self._slices(wish)
        return change

    def _annotate(self, wish, _):
        rows = wish.rows[wish.product]
        if rows:
            number = self.random.randrange(len(rows))
            wish.values[wish.product][number] ^= 1
        return lambda: self._patch(wish, {"metadata": {"annotations": wish.annotations()}}, "annotations")

    def _ports(self, wish, _):
        wish.ports = self.random.choice(PORTS)

        def change():
            self._patch(wish, {"spec": {"ports": wish.service()["spec"]["ports"]}}, "ports")
            self._slices(wish)
        return change

    def _policy(self, wish, _):
        wish.policy = "Local" if wish.policy == "Cluster" else "Cluster"
        return lambda: self._patch(wish, {"spec": wish.spec()}, "policy")

    def _ranges(self, wish, _):
        drawn = self.random.choice((None, *RANGES))
        wish.ranges = None if wish.reuse else drawn
        return lambda: self._patch(wish, {"spec": wish.spec()}, "ranges")

    def _backends(self, wish, _):
        wish.eni = not wish.eni
        return lambda: self._patch(wish, {"metadata": {"annotations": wish.annotations()}}, "backend type")

    def _type(self, wish, _):
        wish.kind = self.random.choice(("ClusterIP", "NodePort")) if wish.kind == "LoadBalancer" else "LoadBalancer"
        return lambda: self._patch(wish, {"spec": wish.spec()}, "type")

    def _class(self, wish, _):
        """To the other product, to a class that is not ours, or back, by way of ClusterIP: a class cannot be changed."""
        old = wish.annotations()
        wish.foreign_class = self.random.random() < 0.2 if wish.movable else not wish.foreign_class
        if wish.movable:
            wish.product = "nlb" if wish.product == "clb" else "clb"
        wish.kind = "LoadBalancer"
        new = {**dict.fromkeys(old), **wish.annotations()}

        def change():
            self._patch(wish, {"spec": {"type": "ClusterIP", "loadBalancerClass": None, "loadBalancerSourceRanges": None,
                                        "externalTrafficPolicy": None}}, "type")
            self._patch(wish, {"metadata": {"annotations": new}, "spec": wish.spec()}, "class")
        return change

    def _end(self, wish, slot):
        self.wishes[slot] = None
        if self.waiting.pop(slot, None) is not None:
            return lambda: None  # it was never made

        def change():
            self.trace.note("deleted", wish.name)
            self._delete(wish)
        return change

    def _replace(self, wish, slot):
        """Deleted, and made anew under the same name."""
        self._carry_out(self._end(wish, slot), wish, "replace")
        self.begin(slot, wish.name)
        return lambda: None

    def _delete(self, wish):
        known = self.kube.get("Service", wish.name)
        self.ended += bool(known and known["metadata"].get("finalizers"))
        self.kube.delete("Service", wish.name)
        for item in wish.slices():
            self.kube.delete("EndpointSlice", item["metadata"]["name"])

    def finish(self):
        """All that wait for a name have it; called when nothing fails any more."""
        self._retry()
        return not self.waiting

    def end_all(self):
        for slot, wish in enumerate(self.wishes):
            if wish is not None:
                self._carry_out(self._end(wish, slot), wish, "end")
