"""/statusz: what it is doing, what is failing, when is the next try; for people, so read as a browser would."""

import html.parser
import json
import re

from tests.support import objects, views
from tests.support.world import wait

PORTS = ((80, "TCP"),)
ID = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id"
EVIL = "<script>alert('x')</script> & \"quotes\" <b>bold"
VOID = {"meta", "input"}


class Page(html.parser.HTMLParser):
    """Tables by the heading before them, as lists of rows of texts; tags that do not fit together fail."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.tags = set()
        self.text = ""
        self.tables = {}
        self.heading = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "h2":
            self.heading = ""
        elif tag == "tr":
            self.tables.setdefault(self.heading, []).append([])
        elif tag in ("td", "th"):
            self.tables[self.heading][-1].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> after {self.open}"
        self.open.pop()

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.text += data
        if self.open[-1:] == ["h2"]:
            self.heading += data.split(":")[0]
        elif "td" in self.open or "th" in self.open:
            self.tables[self.heading][-1][-1] += data

    def rows(self, heading):
        """[{column: text}]"""
        head, *rows = self.tables.get(heading, [[]])
        return [dict(zip(head, row)) for row in rows]


def page(world, process=None):
    status, text = world.admin("/statusz", process)
    assert status == 200
    return Page(text)


def row(world, key, heading):
    return next((one for one in page(world).rows(heading) if one["object"] == key), None)


def ask(world, path):
    status, text = world.admin("/statusz" + path + ("&" if "?" in path else "?") + "format=json")
    assert status == 200, text
    return json.loads(text)


def failing(world, key):
    """Its row in the list of objects."""
    return next((one for one in ask(world, "/objects?state=failing")["objects"] if one["object"] == key), None)


def cause(world, key):
    """Its row on the first page: what fails for one reason stands together."""
    return next((one for one in page(world).rows("Failing objects") if key in one["which"]), None)


def test_failing_objects(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.cloud.fault(action="CreateVServerGroup", count=1000, code="ServiceUnavailable", http=503, message=EVIL)
    world.kube.create(objects.service("evil", PORTS), objects.service("gone", PORTS, annotations={ID: "lb-missing"}))
    evil = world.wait(lambda: cause(world, "default/evil"), "the failure", timeout=40)
    assert "CreateVServerGroup: ServiceUnavailable: " + EVIL in evil["why"]
    assert evil["plugin"] == "clb" and "tried again by itself" in evil["what that means"]
    assert re.fullmatch(r"in \d+ s|now", evil["next try"])
    gone = world.wait(lambda: cause(world, "default/gone"), "the other")
    assert "change the object" in gone["what that means"] and re.fullmatch(r"in \d+ (s|min)", gone["next try"])
    assert gone["objects"] == "1" and re.fullmatch(r"\d+ s", gone["newest for"])
    world.wait(lambda: failing(world, "default/evil")["failed_tries"] > 1, "another try", timeout=40)
    for path in ("", "/objects", "/object?key=default/evil"):
        status, text = world.admin("/statusz" + path)
        seen = Page(text)
        assert status == 200 and EVIL[:40] in seen.text, path
        assert "script" not in seen.tags and "b" not in seen.tags, path
    assert re.search("Failing objects: 2 of 2", page(world).text) and "2 of 2 objects fail" in page(world).text
    # What is well again, or is no more, leaves the list.
    world.cloud.clear_faults()
    world.wait(lambda: world.kube.ingress("evil"), "its address", timeout=60)
    world.wait(lambda: failing(world, "default/evil") is None, "a shorter list")
    world.kube.delete("Service", "gone")
    world.wait(lambda: re.search("Failing objects: 0 of 1", page(world).text), "an empty list")


def test_what_runs(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.wait(lambda: "Ready" in page(world).text, "readiness")
    assert not page(world).rows("Running now")
    world.cloud.fault(action="CreateLoadBalancer", delay_ms=600000)
    world.kube.create(objects.service("web", PORTS))
    running = world.wait(lambda: row(world, "default/web", "Running now"), "the call")
    assert running["plugin"] == "clb" and re.fullmatch(r"\d+ s", running["for"])
    (plugin,) = page(world).rows("Plugins")
    assert (plugin["plugin"], plugin["state"], plugin["running"]) == ("clb", "started", "1")
    caches = {one["kind"]: one for one in page(world).rows("Caches")}
    assert set(caches) == {"services", "nodes", "endpointslices"}
    assert (caches["nodes"]["state"], caches["nodes"]["objects"]) == ("filled", "1")
    world.cloud.clear_faults()
    world.wait(lambda: not page(world).rows("Running now"), "its end")


def test_leader_and_standby(world):
    config = world.write_config(election="lease_duration_s = 3;")
    leader = world.start_ccmd(config)
    world.wait(lambda: "Leads as" in page(world).text, "the lease")
    standby = world.start_ccmd(config)
    world.processes.append(leader)
    wait(lambda: "Ready" in page(world, standby).text, "readiness")
    seen = page(world, standby)
    name = re.search(r"Leads as (\S+)\.\s", page(world, leader).text).group(1)
    assert f"Stands by with warm caches; the leader is {name}." in seen.text
    assert seen.rows("Plugins")[0]["state"] == "waits for its turn"


def test_trouble_is_said_first(world):
    for verb in ("LIST", "WATCH"):
        world.kube.fault(f"{verb} /api/v1/nodes", count=1000, http=403, message="no <nodes> for you")
    world.start_ccmd()
    world.wait(lambda: "cache of nodes: not filled: " in page(world).text, "a word about it")
    text = page(world).text
    assert text.index("Not ready:") < text.index("Failing objects")
    assert "not filled, " in {one["kind"]: one for one in page(world).rows("Caches")}["nodes"]["state"]


def test_a_configuration_that_does_not_count_is_told(world):
    world.start_ccmd()
    world.wait(lambda: "Ready" in page(world).text, "readiness")
    assert "onfiguration" not in page(world).text
    good = open(world.config, encoding="utf-8").read()
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(good + "nonsense = 1;\n")
    world.wait(lambda: "The configuration file has problems" in page(world).text, "a word about it")
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(good + 'controller: { timeout_s = 60; }; process: { core_dumps = true; };\n')
    world.wait(lambda: "need a restart, see the log: 1." in page(world).text, "a word about the restart")


def test_many_failing_objects(world):
    """They fail for one reason, so they are one row; the list has them all, a page at a time."""
    count = 520
    views.nodes(world, 1)
    world.kube.create(*[objects.service(f"bad-{n}", PORTS, annotations={ID: f"lb-missing-{n}"}) for n in range(count)])
    world.start_ccmd(world.write_config(plugins='{ name = "clb"; workers = 16; }', log_level="info",
                                        alicloud="quotas: { slb_write = 1000000; slb_read = 1000000; };"))
    world.wait(lambda: f"Failing objects: {count} of {count}" in page(world).text, "all of them", timeout=60)
    (row_,) = page(world).rows("Failing objects")
    assert row_["objects"] == str(count) and re.search(f"and {count - 3} more$", row_["which"])
    (first,) = ask(world, "")["failing"]
    assert first["count"] == count and first["latest_since_s"] >= 0
    names = set()
    for number in range(1, 7):
        seen = ask(world, f"/objects?page={number}&limit=100")
        assert (seen["all"], seen["failing"], seen["matching"]) == (count, count, count)
        assert len(seen["objects"]) == (100 if number < 6 else 20)
        names |= {one["object"] for one in seen["objects"]}
    assert names == {f"default/bad-{n}" for n in range(count)}
    assert world.metrics()['ccmd_failing_objects{plugin="clb"}'] == count
