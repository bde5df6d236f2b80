"""The world of a soak: both simulators, what other people have in the cloud, and the configuration of ccmd."""

import json
import os

from tests.support.owned import CLUSTER_TAG, OTHER
from tests.support.products import OWNER_TAG, PRODUCTS
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE
from tests.support.world import World

NODES = tuple(f"node-{n}" for n in range(1, 9))
IN_FIXTURES = 5  # of these nodes cloudsim has instances from the start
REUSED = 3  # load balancers of each product that Services may use
PERSONS_PORT = 8888  # of the listener that a person has on each of them
LEASE_S = 5
ELECTION = "enabled = true; lease_duration_s = {};"
PATIENCE = "removal_window_s = 4; missing_wait_s = 12;"  # what goes slowly by default
QUOTAS = {"slb_write": 600, "slb_read": 20000, "nlb_write": 1200, "nlb_read": 8000, "vpc": 2000, "ecs": 2000}
QUOTA_SCALE = 5  # cloudsim grants so many times the published rates: less than ccmd expects
USUAL = 40  # Services at the same time; for more of them there is more of each quota
JOB_MS = 20  # of NLB
OURS = "soak"  # the field manager by which the API server tells our requests from those of ccmd


class Setting:
    """chaos: the world that suffers. Without it, the one it is compared with: the same things, no trouble. slots: Services."""

    def __init__(self, build, folder, chaos, slots=USUAL):
        self.more = max(1, slots // USUAL)
        arguments = ["--call-log=2000000"]
        for product in PRODUCTS.values():
            arguments += product().allow(5000)
        if chaos:
            arguments += [f"--quota={self._quota_file(folder)}"]
        self.chaos = chaos
        self.world = World(build, folder, cloud_args=arguments)
        self.ids = {}  # name of a reusable load balancer -> id

    def _quota_file(self, folder):
        path = f"{folder}.quota.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"scale": QUOTA_SCALE * self.more}, file)
        return path

    def __enter__(self):
        self.world.__enter__()
        self._mark_our_requests()
        self.world.cloud.http.request("POST", "/_sim/instances", {"instances": [
            {"id": f"i-{name}", "vswitch": "vsw-a"} for name in NODES[IN_FIXTURES:]]})
        self._make_foreign()
        if self.chaos:
            self.world.cloud.edit("limits", limits={"job-ms": JOB_MS})
        self.configure()
        return self

    def __exit__(self, *error):
        return self.world.__exit__(*error)

    def _mark_our_requests(self):
        http = self.world.kube.http
        request = http.request

        def marked(method, path, *args, **kwargs):
            if not path.startswith("/_sim"):
                path += ("&" if "?" in path else "?") + f"fieldManager={OURS}"
            return request(method, path, *args, **kwargs)

        http.request = marked

    @staticmethod
    def _election(trouble):
        """Short leases while there is trouble; at rest nobody is to lose one on a slow machine."""
        return ELECTION.format(LEASE_S if trouble else 3 * LEASE_S)

    def configure(self, audit_s=None):
        """Looks at the cloud every few seconds while there is trouble; audit_s = 0: never, for what is looked at at rest."""
        audit = (15 if self.chaos else 0) if audit_s is None else audit_s
        orphans = "orphan_cleanup = true;"
        quotas = " ".join(f"{name} = {value * self.more if self.chaos else 1000000};" for name, value in QUOTAS.items())
        plugins = [
            f'{{ name = "clb"; workers = 8; audit_interval_s = {audit}; source_ranges = true; {orphans} {PATIENCE} }}',
            f'{{ name = "nlb"; workers = 8; audit_interval_s = {audit}; {orphans} {PATIENCE} }}',
            f'{{ name = "gateway"; workers = 4; audit_interval_s = {audit}; {orphans} {PATIENCE} }}',
            f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; period_s = {audit or 3600}; orphan_cleanup = true; {PATIENCE} }}']
        written = self.world.write_config(
            name="next.conf",
            plugins=", ".join(plugins), alicloud=f"quotas: {{ {quotas} }};", log_level="info",
            election=self._election(audit) if self.chaos else "enabled = false;", settle_s=2 if self.chaos else 0)
        os.replace(written, self.world.config)  # a ccmd that runs reads it at any moment

    # --- other people's ---

    def call(self, action, params, product):
        done = self.world.cloud.edit("call", product=product, action=action, params={k: str(v) for k, v in params.items()})
        if done["http"] != 200:
            raise AssertionError((action, params, done))
        return done["answer"]

    def _make_foreign(self):
        """Load balancers of a person and of another cluster, some of which Services may use; routes, a group of nobody."""
        for kind in PRODUCTS.values():
            product = kind()
            product.call = lambda action, params, where=product.product: self.call(action, params, where)
            self._make_lb(product, f"{product.name}-theirs", {"owner": "shop"})
            self._make_lb(product, f"{product.name}-other-cluster", {OWNER_TAG: OTHER, CLUSTER_TAG: "c-other"})
            for number in range(REUSED):
                name = f"{product.name}-reuse-{number}"
                self.ids[name] = self._make_lb(product, name, {})
        for number in (77, 78):
            self.world.cloud.edit("create", type="route", route_table=SYSTEM_TABLE, destination=f"192.168.{number}.0/24",
                                  next_hop_type="Instance", next_hop="i-node-1")
        self.call("CreateAccessControlList", {"AclName": "theirs"}, "slb")

    @staticmethod
    def _make_lb(product, name, tags):
        lb, _ = product.make_lb(name, {}, tags)
        product.make_group(lb, f"theirs-{name}", [{"server": "node-5", "port": 99, "weight": 7}])
        group = SettingGroup(product, lb).id
        product.make_listener(lb, f"{PERSONS_PORT}/tcp", group, {})
        return lb


class SettingGroup:
    """The server group that a person has just made for a load balancer."""

    def __init__(self, product, lb):
        if product.name == "nlb":
            self.id = next(iter(product.groups[lb].values()))
        else:
            self.id = product.call("DescribeVServerGroups", {"LoadBalancerId": lb})["VServerGroups"]["VServerGroup"][0]["VServerGroupId"]
