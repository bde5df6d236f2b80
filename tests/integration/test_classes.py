"""Which plugin serves which Service, as the options of classes say: own names, only with a class, NLB as the default, and two ccmds on one
API server, neither of which touches what the other has."""

import os

import pytest

from tests.support import objects, proc, views
from tests.support.products import Nlb
from tests.support.world import World

BOTH = '{ name = "clb"; workers = 4; }, { name = "nlb"; workers = 4; }'
CLB, NLB = "service.k8s.alibaba/resources", "service.k8s.alibaba/nlb"
ZONES = Nlb().new("x", [(80, "TCP")])["metadata"]["annotations"]


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        views.nodes(world, 1)
        yield world


def service(name, class_=None):
    """With what both products need; of CLB the zones have no effect."""
    item = objects.service(name, annotations=dict(ZONES))
    if class_ is not None:
        item["spec"]["loadBalancerClass"] = class_
    return item


def configure(world, alicloud="", plugins=BOTH, **more):
    world.config = world.write_config(plugins=plugins, alicloud=alicloud, **more)


def finalizers(world, name):
    return world.kube.get("Service", name)["metadata"].get("finalizers", [])


def reasons(world, name):
    return [reason for _, reason, _, _ in world.kube.events(name)]


def served(world, *names):
    for name in names:
        world.wait(lambda: world.kube.ingress(name), f"an address of {name}", 30)


def hosts(world):
    """Names of Services by what they have got; the others have nothing."""
    found = {"clb": set(), "nlb": set()}
    for item in world.kube.items("Service"):
        for one in item.get("status", {}).get("loadBalancer", {}).get("ingress") or []:
            found["nlb" if "hostname" in one else "clb"].add(item["metadata"]["name"])
    return found


def test_own_names(world):
    configure(world, 'clb_class = "example.com/clb, example.com/classic"; nlb_class = "example.com/net";')
    world.kube.create(service("a", "example.com/clb"), service("b", "example.com/classic"), service("c", "example.com/net"), service("d"),
                      service("old", "alibabacloud.com/nlb"), service("near", "example.com/nett"))
    world.start_ccmd()
    served(world, "a", "b", "c", "d")
    world.wait(lambda: "UnknownClass" in reasons(world, "near"), "the event")
    world.settled()
    assert hosts(world) == {"clb": {"a", "b", "d"}, "nlb": {"c"}}
    assert len(world.cloud.load_balancers()) == 3 and len(world.cloud.network_load_balancers()) == 1
    assert not world.kube.events("old")
    (message,) = [text for _, reason, text, _ in world.kube.events("near") if reason == "UnknownClass"]
    assert "did you mean example.com/" in message


def test_only_with_class(world):
    """Services without class are left alone, also by their deletion; those that had a load balancer before keep it to the end."""
    configure(world)
    world.kube.create(service("before"))
    world.start_ccmd()
    served(world, "before")
    world.stop_ccmd()
    configure(world, 'default_class = "none"; clb_class = "example.com/clb";')
    world.kube.create(service("new"), service("named", "example.com/clb"))
    mark = world.cloud.mark()
    world.start_ccmd()
    served(world, "named")
    world.settled()
    assert hosts(world) == {"clb": {"before", "named"}, "nlb": set()}
    assert not world.kube.events("new") and not finalizers(world, "new")
    assert "DeleteLoadBalancer" not in world.cloud.actions(mark) and len(world.cloud.load_balancers()) == 2
    world.kube.delete("Service", "before")
    world.wait(lambda: len(world.cloud.load_balancers()) == 1, "the end of one")


@pytest.mark.parametrize("plugins", [BOTH, '{ name = "nlb"; workers = 4; }', '{ name = "clb"; workers = 4; }'], ids=["both", "nlb", "clb"])
def test_nlb_by_default(world, plugins):
    """Who has a CLB keeps it, over restarts and changes, also when its plugin is not there: then somebody says so."""
    configure(world)
    world.kube.create(service("old"))
    world.start_ccmd()
    served(world, "old")
    world.settled()
    world.stop_ccmd()
    (before,) = world.cloud.load_balancers()
    configure(world, 'default_class = "nlb";', plugins)
    world.kube.create(service("new"))
    mark = world.cloud.mark()
    world.start_ccmd()
    has = {name for name in ("clb", "nlb") if f'"{name}"' in plugins}
    if "nlb" in has:
        served(world, "new")
    for name, plugin in (("old", "clb"), ("new", "nlb")):
        if plugin not in has:
            world.wait(lambda n=name: "PluginMissing" in reasons(world, n), "the event")
            assert f"plugin {plugin} of ccmd serves it and is not configured" in str(world.kube.events(name))
    world.kube.patch("Service", "old", {"spec": {"ports": [{"name": "other", "port": 81, "protocol": "TCP"}]}})
    if "clb" in has:
        world.wait(lambda: 81 in [one["ListenerPort"] for one in world.cloud.load_balancers()[0]["Listeners"]], "the new port")
    world.kill_ccmd()
    world.start_ccmd()
    world.settled()
    (after,) = world.cloud.load_balancers()
    assert after["LoadBalancerId"] == before["LoadBalancerId"]
    assert hosts(world) == {"clb": {"old"}, "nlb": {"new"} & ({"new"} if "nlb" in has else set())}
    assert finalizers(world, "old") == [CLB] and finalizers(world, "new") == ([NLB] if "nlb" in has else [])
    assert not [action for action in world.cloud.actions(mark) if action == "DeleteLoadBalancer"]


def test_the_way_back_from_nlb(world, build):
    """With `none` who has an NLB keeps it; with `clb` it goes over to a CLB, at another address, which plan says beforehand, and nothing of
    the NLB is left. A Service that has its class keeps it either way."""
    configure(world, 'default_class = "nlb";')
    world.kube.create(service("web"), service("named", "alibabacloud.com/nlb"))
    world.start_ccmd()
    served(world, "web", "named")
    world.settled()
    world.stop_ccmd()
    kept = {lb["LoadBalancerId"] for lb in world.cloud.network_load_balancers()}
    configure(world, 'default_class = "none";')
    world.start_ccmd()
    world.kube.patch("Service", "web", {"spec": {"ports": [{"name": "other", "port": 81, "protocol": "TCP"}]}})
    world.wait(lambda: 81 in [one["ListenerPort"] for lb in world.cloud.network_load_balancers() for one in lb["Listeners"]], "the new port", 30)
    world.settled()
    assert {lb["LoadBalancerId"] for lb in world.cloud.network_load_balancers()} == kept and hosts(world) == {"clb": set(), "nlb": {"web", "named"}}
    world.stop_ccmd()
    configure(world, 'default_class = "clb";')
    code, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "plan", "--config", world.config],
                              env={"ACCESS_KEY_ID": "testAccessKeyId", "ACCESS_KEY_SECRET": "testAccessKeySecret"})
    assert code == 3 and "clb default/web" in out and "nlb default/web" in out and "default/named" not in out, out + err
    assert {lb["LoadBalancerId"] for lb in world.cloud.network_load_balancers()} == kept and world.cloud.load_balancers() == []
    world.start_ccmd()
    world.wait(lambda: hosts(world) == {"clb": {"web"}, "nlb": {"named"}} and finalizers(world, "web") == [CLB], "a CLB in place of the NLB", 40)
    world.wait(lambda: len(world.cloud.network_load_balancers()) == 1, "the end of the NLB", 30)
    world.wait(lambda: world.kube.ingress("web"), "the address of the CLB", 30)
    world.settled()
    assert len(world.cloud.load_balancers()) == 1 and len(world.kube.ingress("web")) == 1 and "SyncLoadBalancerFailed" not in reasons(world, "web")
    assert {lb["LoadBalancerId"] for lb in world.cloud.network_load_balancers()} < kept and finalizers(world, "named") == [NLB]


def test_two_with_one_cluster_id(world):
    """Against the advice of docs/classes.md: what one has, orphans included, the other leaves alone, because names of Services and instances
    differ; only the tag of the cluster is the same."""
    more = ", ".join(f'{{ name = "{name}"; workers = 2; orphan_cleanup = true; audit_interval_s = 1; missing_wait_s = 1; }}' for name in ("clb", "nlb"))
    configs = [world.write_config(plugins=more, alicloud=own, name=f"{name}.conf", cluster_id="c-same", election=election(f"ccm-{name}"))
               for name, own in (("first", FIRST), ("second", SECOND))]
    first, second = (world.start_ccmd(config) for config in configs)
    try:
        names = {"a-clb": "example.com/clb-a", "a-nlb": "alibabacloud.com/nlb", "b-clb": "example.com/clb-b", "b-nlb": "example.com/nlb-b"}
        world.kube.create(*(service(name, class_) for name, class_ in names.items()))
        served(world, *names)
        mark = world.cloud.mark()
        for process in (first, second):
            world.settled(process=process)
            world.wait(lambda: all(f'ccmd_orphans{{type="{kind}"}}' in world.metrics(process) for kind in ("CLBType", "NLBType")), "a look for orphans")
        found = sorted(lb["LoadBalancerId"] for lb in world.cloud.load_balancers() + world.cloud.network_load_balancers())
        assert len(found) == 4
        world.kube.delete("Service", "a-clb")
        world.kube.delete("Service", "b-nlb")
        world.wait(lambda: {item["metadata"]["name"] for item in world.kube.items("Service")} & {"a-clb", "b-nlb"} == set(), "the end of two", 40)
        for process in (first, second):
            world.settled(process=process)
        left = [lb["LoadBalancerId"] for lb in world.cloud.load_balancers() + world.cloud.network_load_balancers()]
        assert len(left) == 2 and set(left) < set(found)
        assert len([action for action in world.cloud.actions(mark) if action == "DeleteLoadBalancer"]) == 2
        assert hosts(world) == {"clb": {"b-clb"}, "nlb": {"a-nlb"}}
    finally:
        for process in (first, second):
            process.kill()
        world.ccmd = None


def test_a_name_that_is_taken_away(world):
    """Nothing is deleted because somebody renames a class in the options, and a Service says it; its own change of type lets go."""
    configure(world)
    world.kube.create(service("web", "alibabacloud.com/nlb"))
    world.start_ccmd()
    served(world, "web")
    world.settled()
    world.stop_ccmd()
    configure(world, 'nlb_class = "example.com/net";')
    mark = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: "ClassDropped" in reasons(world, "web"), "the event")
    world.settled()
    assert world.cloud.mark() == mark or "DeleteLoadBalancer" not in world.cloud.actions(mark)
    assert len(world.cloud.network_load_balancers()) == 1 and finalizers(world, "web") == [NLB]
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
    world.wait(lambda: not world.cloud.network_load_balancers(), "the end", 30)
    world.wait(lambda: finalizers(world, "web") == [], "the end of the finalizer")


SECOND = ('instance = "b"; default_class = "none"; clb_class = "example.com/clb-b"; nlb_class = "example.com/nlb-b"; '
          'other_class = "example.com/clb-a, alibabacloud.com/nlb";')
FIRST = 'clb_class = "example.com/clb-a"; other_class = "example.com/clb-b, example.com/nlb-b";'


def election(name):
    return f'name = "{name}"; lease_duration_s = 4;'


def test_two_side_by_side(world, build):
    """Two processes, clusters' names and leases: Services, finalizers, tags and orphans of one are nothing to the other."""
    more = '{{ name = "clb"; workers = 2; orphan_cleanup = true; audit_interval_s = 1; missing_wait_s = 1; }}, {{ name = "nlb"; workers = 2; orphan_cleanup = true; audit_interval_s = 1; missing_wait_s = 1; }}'.replace("{{", "{").replace("}}", "}")
    configs = [world.write_config(plugins=more, alicloud=own, name=f"{name}.conf", cluster_id=f"c-{name}", election=election(f"ccm-{name}"))
               for name, own in (("first", FIRST), ("second", SECOND))]
    for config in configs:
        assert proc.run([os.path.join(build, "bin", "ccmd"), "check-config", "--config", config],
                        env={"ACCESS_KEY_ID": "key", "ACCESS_KEY_SECRET": "secret"})[0] == 0
    first, second = (world.start_ccmd(config) for config in configs)
    try:
        names = {"a-clb": "example.com/clb-a", "a-nlb": "alibabacloud.com/nlb", "a-default": None, "b-clb": "example.com/clb-b",
                 "b-nlb": "example.com/nlb-b"}
        world.kube.create(*(service(name, class_) for name, class_ in names.items()))
        served(world, *names)
        for process in (first, second):
            world.settled(process=process)
        assert {name: finalizers(world, name) for name in names} == {
            "a-clb": [CLB], "a-nlb": [NLB], "a-default": [CLB], "b-clb": [CLB + "-b"], "b-nlb": [NLB + "-b"]}
        tags = sorted(lb["Tags"]["ack.aliyun.com"] for lb in world.cloud.load_balancers() + world.cloud.network_load_balancers())
        assert tags == ["c-first"] * 3 + ["c-second"] * 2
        assert not [name for name in names if "UnknownClass" in reasons(world, name) or "TypeChanged" in reasons(world, name)]
        # One process alone: what the other had stays, deletions wait for it.
        first.kill()
        world.kube.delete("Service", "a-clb")
        world.kube.delete("Service", "b-clb")
        world.wait(lambda: "b-clb" not in [item["metadata"]["name"] for item in world.kube.items("Service")], "the end of b-clb", 30)
        world.kube.patch("Service", "a-nlb", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
        world.settled(process=second)
        assert finalizers(world, "a-clb") == [CLB] and finalizers(world, "a-nlb") == [NLB]
        tags = sorted(lb["Tags"]["ack.aliyun.com"] for lb in world.cloud.load_balancers() + world.cloud.network_load_balancers())
        assert tags == ["c-first"] * 3 + ["c-second"]
        first = world.start_ccmd(configs[0])
        world.wait(lambda: sorted(lb["Tags"]["ack.aliyun.com"] for lb in world.cloud.load_balancers() + world.cloud.network_load_balancers())
                   == ["c-first", "c-second"], "the end of two", 40)
    finally:
        for process in (first, second):
            process.kill()
        world.ccmd = None


@pytest.mark.parametrize("alicloud, words", [
    ('clb_class = "example.com/lb"; nlb_class = "example.com/lb";', "options clb_class and nlb_class of group alicloud both have class example.com/lb"),
    ('other_class = "alibabacloud.com/nlb";', "options nlb_class and other_class of group alicloud both have class alibabacloud.com/nlb"),
    ('clb_class = "no class";', "option clb_class of group alicloud: [no class] is no name of a class"),
    ('instance = "B";', "option instance of group alicloud: [B] is not [a-z0-9-]{1,20}"),
    ('default_class = "alb";', "'alb' is none of clb|nlb|none"),
], ids=["both", "other", "name", "instance", "default"])
def test_contradictions(world, build, alicloud, words):
    configure(world, alicloud)
    code, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "check-config", "--config", world.config],
                              env={"ACCESS_KEY_ID": "key", "ACCESS_KEY_SECRET": "secret"})
    assert code == 1 and words in err, (out, err)
    assert err.count(words) == 1
    code, _, err = proc.run([os.path.join(build, "bin", "ccmd"), "run", "--config", world.config],
                            env={"ACCESS_KEY_ID": "key", "ACCESS_KEY_SECRET": "secret"})
    assert code == 1 and words in err


def test_lint_and_plan(world, build, tmp_path):
    """Both go by the same options."""
    configure(world, 'default_class = "nlb"; clb_class = "example.com/clb";')
    (tmp_path / "web.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: { name: plain }\nspec: { type: LoadBalancer, ports: [ { port: 80 } ] }\n---\n"
        "apiVersion: v1\nkind: Service\nmetadata: { name: misspelt }\n"
        "spec: { type: LoadBalancer, loadBalancerClass: example.com/cbl, ports: [ { port: 80 } ] }\n")
    env = {"ACCESS_KEY_ID": "testAccessKeyId", "ACCESS_KEY_SECRET": "testAccessKeySecret"}
    code, out, _ = proc.run([os.path.join(build, "bin", "ccmd"), "lint", "--config", world.config, tmp_path / "web.yaml"], env=env)
    assert code == 1 and "plain: " in out and "zone-maps" in out, out
    assert "misspelt: spec.loadBalancerClass [example.com/cbl] is none that is known here" in out and "did you mean example.com/clb?" in out
    world.kube.create(service("web"))
    code, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "plan", "--config", world.config], env=env)
    assert code == 3 and "nlb default/web" in out and "clb default/web" not in out, (out, err)
