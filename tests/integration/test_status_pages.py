"""The pages below /statusz: all objects, one object, quotas; for browsers, programs and terminals, from memory alone."""

import html
import json
import re
import urllib.parse
import urllib.request

from tests.support import objects, scenario_route, views

PORTS = ((80, "TCP"), (443, "TCP"))
ID = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id"
TYPE = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type"
EVIL = "<script>alert('x')</script> & \"quotes\" <b>bold \x1b[31m"


def ask(world, path, **arguments):
    query = urllib.parse.urlencode({"format": "json", **arguments})
    status, text = world.admin(f"/statusz{path}?{query}")
    assert status == 200, text
    return json.loads(text)


def listed(world, **arguments):
    return [one["object"] for one in ask(world, "/objects", **arguments)["objects"]]


def page_of(world, key):
    """What clb knows of it; {} = nothing yet, or it is being worked on."""
    status, text = world.admin(f"/statusz/object?key={key}&format=json")
    told = json.loads(text)["clb"] if status == 200 else {}
    return told if "listeners" in told else {}


def cloud_calls(world):
    return len(world.cloud.calls())


def start(world):
    world.start_ccmd()
    world.wait(lambda: world.admin("/statusz/objects")[0] == 200, "the first answer")


def serve(world, *names, nodes=3):
    views.nodes(world, nodes)
    for number, name in enumerate(names):
        service = objects.service(name, PORTS)
        world.kube.create(service, objects.endpoint_slice(service, [(f"10.1.{number}.{n}", f"node-{n}") for n in range(1, nodes + 1)]))


def test_all_objects(world):
    """Healthy ones too: counted, searched, filtered, sorted, a page at a time."""
    serve(world, "web", "api", "shop")
    world.kube.create(objects.service("gone", PORTS, annotations={ID: "lb-missing"}),
                      objects.service("odd", PORTS, annotations={TYPE: "internal"}))
    start(world)
    world.wait(lambda: (lambda c: (c["well"], c["failing"]) == (3, 2))(ask(world, "")["count"]), "all passes", timeout=40)
    seen = ask(world, "/objects")
    assert (seen["all"], seen["failing"], seen["matching"]) == (5, 2, 5)
    rows = {one["object"]: one for one in seen["objects"]}
    assert set(rows) == {"default/web", "default/api", "default/shop", "default/gone", "default/odd"}
    assert {one["state"] for one in seen["objects"][:2]} == {"failing"}  # the worst first
    web = rows["default/web"]
    assert web["plugin"] == "clb" and web["state"] == "well" and web["addresses"] == world.kube.ingress("web")[0]["ip"]
    assert web["why"] == "" and web["last_pass_s"] >= 0 and web["failed_tries"] == 0
    assert "must be one of" in rows["default/odd"]["why"] and rows["default/odd"]["failed_tries"] >= 1
    # Filters and search: words of the name, of the reason, address, id of the load balancer.
    assert sorted(listed(world, state="failing")) == ["default/gone", "default/odd"]
    assert listed(world, q="SHOP") == ["default/shop"]
    assert listed(world, q="internet intranet") == ["default/odd"]
    assert listed(world, q=web["addresses"]) == ["default/web"]
    label = world.kube.get("Service", "api")["metadata"]["labels"]["service.k8s.alibaba/loadbalancer-id"]
    assert listed(world, q=label) == ["default/api"]
    assert listed(world, q="nothing at all") == [] and listed(world, plugin="nlb") == []
    # Order.
    names = sorted(rows)
    assert listed(world, sort="object") == names and listed(world, sort="-object") == names[::-1]
    assert listed(world, sort="object", limit=2, page=2) == names[2:4]
    assert set(listed(world, sort="tries")[:2]) == {"default/gone", "default/odd"}
    seen = world.admin("/statusz/objects?sort=object&q=default&refresh=10")[1]
    assert 'href="/statusz/objects?q=default&amp;refresh=10&amp;sort=-object"' in seen
    # What fails for one reason, by the link of the first page.
    first = world.admin("/statusz")[1]
    assert "2 of 5 objects fail" in first and "/statusz/objects?plugin=clb&amp;state=failing" in first
    assert "Terminal" not in first and "terminal" not in first  # words, not kinds
    # What was deleted is no object any more.
    world.kube.delete("Service", "gone")
    world.wait(lambda: ask(world, "")["count"]["all"] == 4, "one less")


def test_one_object(world):
    """From the Service to load balancer, listeners, backends, who is missing and why, and what happened."""
    serve(world, "web")
    start(world)
    world.wait(lambda: world.kube.ingress("web"), "its address", timeout=40)
    world.settled()
    told = world.wait(lambda: page_of(world, "default/web"), "the page")
    assert told["load_balancer"] == world.kube.get("Service", "web")["metadata"]["labels"]["service.k8s.alibaba/loadbalancer-id"]
    assert re.fullmatch(rf"https://slb\.console\.aliyun\.com/slb/[a-z0-9-]+/slbs/{told['load_balancer']}", told["load_balancer_link"])
    assert told["addresses"] == world.kube.ingress("web")[0]["ip"] and told["ports"] == "80/TCP, 443/TCP"
    assert told["state"] == "well" and told["passes"] >= 1 and told["last_pass_s"] >= 0
    assert {(one["port"], one["protocol"], one["state"]) for one in told["listeners"]} == {("80", "tcp", "runs"), ("443", "tcp", "runs")}
    assert len(told["backends"]) == 6 and {one["node"] for one in told["backends"]} == {"node-1", "node-2", "node-3"}
    assert {one["state"] for one in told["backends"]} == {"is there"} and all(one["weight"] == "100" for one in told["backends"])
    assert all(one["group"].startswith("k8s/") for one in told["backends"])
    history = ask(world, "/object", key="default/web")["history"]
    assert 0 < len(history) <= 20
    assert any(one["kind"] == "event" and one["what"].startswith("EnsuredLoadBalancer: ") for one in history)
    assert any(one["kind"] == "change" and re.match(r"slb CreateVServerGroup: ok, RequestId \S+, \d+ ms$", one["what"]) for one in history)
    assert [one["time"] for one in history] == sorted((one["time"] for one in history), reverse=True)
    # A node that leaves is named with its reason.
    world.kube.patch("Node", "node-3", {"metadata": {"labels": {"node.kubernetes.io/exclude-from-external-load-balancers": "true"}}})
    absent = world.wait(lambda: {one["name"]: one["why"] for one in page_of(world, "default/web").get("nodes_and_pods_that_are_no_backends", [])
                                 }.get("node-3"), "the node", timeout=20)
    assert "exclu" in absent, absent
    world.wait(lambda: len(page_of(world, "default/web").get("backends", [])) == 4, "its leaving", timeout=20)
    # Pages ask nobody.
    world.settled()
    before = cloud_calls(world)
    for path in ("", "/objects", "/object?key=default/web", "/quotas"):
        for form in ("html", "json", "text"):
            assert world.admin(f"/statusz{path}{'&' if '?' in path else '?'}format={form}")[0] == 200
    assert cloud_calls(world) == before


def test_what_is_missing_says_why(world):
    serve(world, "web")
    world.cloud.fault(action="AddVServerGroupBackendServers", count=1000, code="ServiceUnavailable", http=503, message=EVIL)
    world.cloud.fault(action="CreateVServerGroup", count=1000, code="ServiceUnavailable", http=503, message=EVIL)
    start(world)

    def missing():
        told = page_of(world, "default/web")
        return told if told.get("state") == "failing" and any("missing" in one["state"] for one in told["backends"]) else None

    told = world.wait(missing, "what is missing", timeout=40)
    assert {one["node"] for one in told["backends"]} == {"node-1", "node-2", "node-3"}
    assert all(one["state"] == "missing: its group is not made yet" for one in told["backends"])
    assert "ServiceUnavailable" in told["why"] and "tried again" in told["what"]
    calls = [one for one in ask(world, "/object", key="default/web")["history"] if one["kind"] == "failed call"]
    assert calls and all("ServiceUnavailable" in one["what"] for one in calls)


def test_hostile_text_stays_text(world):
    """Messages of the cloud and keys in links: no markup in a browser, no control characters in a terminal."""
    views.nodes(world, 1)
    world.cloud.fault(action="CreateVServerGroup", count=1000, code="ServiceUnavailable", http=503, message=EVIL)
    start(world)
    world.kube.create(objects.service("evil", PORTS))
    world.wait(lambda: ask(world, "")["count"]["failing"] == 1, "the failure", timeout=40)
    evil = urllib.parse.quote("\"><script>alert(1)</script>")
    for path in ("", "/objects", "/object?key=default/evil", f"/objects?q={evil}", f"/objects?sort=object&plugin={evil}", f"/quotas?refresh={evil}"):
        status, text = world.admin("/statusz" + path)
        assert status == 200 and "<script" not in text and "<b>" not in text, path
    assert "<script" in html.unescape(world.admin("/statusz")[1])  # it is told
    status, text = world.admin(f"/statusz/object?key={evil}")
    assert status == 404 and text.startswith("no plugin takes care of ")  # as text/plain
    for path in ("?format=text", "/object?key=default/evil&format=text", "/objects?format=text"):
        assert "\x1b" not in world.admin("/statusz" + path)[1]
    found = ask(world, "/object", key="default/evil")["clb"]["why"]
    assert "<script>" in found


def test_quotas_and_rates(world):
    """What is used and allowed of each quota and each action; who waits for what when the cloud throttles."""
    serve(world, "web")
    start(world)
    world.wait(lambda: world.kube.ingress("web"), "its address", timeout=40)
    told = ask(world, "/quotas")["clb"]
    assert told["cluster_id"] == "c-test" and told["region"]
    rates = {one["action"]: one for one in told["calls_per_action"]}
    made = rates["CreateLoadBalancer"]
    assert made["product"] == "slb" and int(made["used"]) == 1 and int(made["allowed"]) == int(made["quota"]) > 0
    quotas = {one["option"]: one for one in told["quotas"]}
    assert int(quotas["account_quotas: load_balancers"]["used"]) == 1 and int(quotas["account_quotas: load_balancers"]["allowed"]) > 1
    assert int(quotas["account_quotas: listeners"]["used"]) == 2
    world.cloud.fault(action="CreateLoadBalancer", count=1000, code="Throttling.User", http=400, message="too many")
    world.kube.create(*[objects.service(f"more-{n}", PORTS) for n in range(3)])

    def throttled():
        row = {one["action"]: one for one in ask(world, "/quotas")["clb"]["calls_per_action"]}["CreateLoadBalancer"]
        return row if row["state"].startswith("throttled by the cloud") and int(row["waiting"]) > 0 else None

    row = world.wait(throttled, "the queue", timeout=60)
    assert int(row["allowed"]) < int(row["quota"])
    world.wait(lambda: ask(world, "")["count"]["waiting"] > 0, "who waits", timeout=60)


def test_forms(world):
    """As the client asks: by argument, by Accept; a refresh; links that keep what was asked for."""
    start(world)
    world.wait(lambda: "Ready" in world.admin("/statusz")[1], "readiness")
    assert "http-equiv" not in world.admin("/statusz")[1]
    assert '<meta http-equiv="refresh" content="10">' in world.admin("/statusz/objects?refresh=10")[1]
    text = world.admin("/statusz?format=text")[1]
    assert "<" not in text and "There are no objects yet" in text
    seen = world.admin("/statusz/objects?q=a&state=failing&refresh=10")[1]
    assert 'href="/statusz/objects?state=failing&amp;q=a&amp;refresh=10&amp;format=json"' in seen
    assert ask(world, "")["ready"] is True and ask(world, "")["leads"] is True


def test_forms_by_accept(world):
    """A client that says what it wants needs no argument; one that is asked for goes first."""
    start(world)

    def told(accept, query=""):
        request = urllib.request.Request(world.admin_base() + "/statusz" + query, headers={"Accept": accept} if accept else {})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    for accept, query, kind in (("application/json", "", "application/json"), ("application/json, */*", "", "application/json"),
                                ("text/plain", "", "text/plain; charset=utf-8"), ("text/html,application/json;q=0.9", "", "text/html; charset=utf-8"),
                                ("*/*", "", "text/html; charset=utf-8"), (None, "", "text/html; charset=utf-8"),
                                ("application/json", "?format=text", "text/plain; charset=utf-8"), ("text/html", "?format=json", "application/json")):
        found, text = told(accept, query)
        assert found == kind, (accept, query)
        assert (text[0] == "{") == (kind == "application/json") and text.startswith("<!doctype html>") == kind.startswith("text/html")
    for path in ("/objects", "/quotas"):
        assert json.loads(told("application/json", path)[1]) is not None
    status, text = world.admin("/statusz?format=xml")
    assert (status, text) == (400, "format: html, json or text\n")


def test_a_page_that_is_there_no_more(world):
    """The list has become shorter behind a reader's back: the last page; a program sees an empty one, where it ends."""
    serve(world, "web", "api", "shop", nodes=1)
    start(world)
    world.wait(lambda: ask(world, "")["count"]["well"] == 3, "all passes", timeout=40)
    text = world.admin("/statusz/objects?limit=2&page=9&sort=object&format=text")[1]
    assert "Shown are 3 to 3." in text and "default/web" in text
    assert ask(world, "/objects", limit=2, page=9)["objects"] == []


def test_the_newest_failure_comes_first(world):
    """What has just begun is what somebody looks for; what fails since yesterday is known."""
    views.nodes(world, 1)
    world.kube.create(objects.service("old", PORTS, annotations={ID: "lb-missing"}))
    start(world)
    first = world.wait(lambda: ask(world, "")["failing"], "the old failure", timeout=40)
    assert [one["count"] for one in first] == [1] and first[0]["objects"] == "default/old"
    world.kube.create(objects.service("new", PORTS, annotations={TYPE: "internal"}))
    both = world.wait(lambda: (lambda rows: rows if len(rows) == 2 else None)(ask(world, "")["failing"]), "the new failure", timeout=40)
    assert [one["objects"] for one in both] == ["default/new", "default/old"]
    assert listed(world, state="failing", sort="-since")[::-1] == listed(world, state="failing", sort="since")


def test_the_last_repair_is_told(world):
    """Somebody takes a listener away at the console; what was put right, and when, stands on the page."""
    serve(world, "web", nodes=1)
    start(world)
    world.wait(lambda: world.kube.ingress("web"), "its address", timeout=40)
    world.settled()
    told = world.wait(lambda: page_of(world, "default/web"), "the page")
    first = told.get("last_repair")
    world.cloud.edit("delete", type="listener", load_balancer=told["load_balancer"], port=80, protocol="tcp")
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"looked-at": "now"}}})
    world.wait(lambda: len(views.only_lb(world)["Listeners"]) == 2, "the listener")
    world.settled()
    told = page_of(world, "default/web")
    assert first is None and re.fullmatch(r"\d+ (s|min) ago", told["last_repair"]), (first, told)
    assert "last repair" in world.admin("/statusz/object?key=default/web&format=text")[1]


def test_a_node_with_a_route(world):
    """Objects are not Services alone: what the plugin route knows of a node."""
    world.kube.create(scenario_route.node("node-1", "10.96.1.0/24"), scenario_route.node("bare", []))
    world.start_ccmd(world.write_config(plugins=f'{{ name = "route"; cluster_cidr = "{scenario_route.CLUSTER_CIDR}"; }}'))
    world.wait(lambda: "10.96.1.0/24" in scenario_route.custom_routes(world.cloud.state())[scenario_route.SYSTEM_TABLE], "the route")
    world.settled()
    assert "node-1" in listed(world, plugin="route")
    told = ask(world, "/object", key="node-1")["route"]
    assert (told["state"], told["pod_cidr"]) == ("well", "10.96.1.0/24") and told["instance"].endswith("i-node-1")
    text = world.admin("/statusz/object?key=node-1&format=text")[1]
    assert text.startswith("node-1\n") and "10.96.1.0/24" in text and "next pass" in text
