"""Tags that a Service asks for by annotation: what was put on because of it is known to later processes by a label of the
Service, so that it can be taken off again; whatever a person has put on stays."""

import pytest

from tests.support import views
from tests.support.owned import CLUSTER_TAG, OWNER_TAG, PREFIX, TYPES, Console

BOTH = pytest.mark.parametrize("product", ["clb", "nlb"])
TAGS = PREFIX + "additional-resource-tags"
LABEL = "service.k8s.alibaba/additional-tags"
THEIRS = {"theirs": "1"}


class Tagged(Console):
    """One Service with additional tags, and a person who has put one on as well."""

    def __init__(self, world, product, tags, theirs=True):
        super().__init__(world, product)
        self.id = self.serving(annotations={} if tags is None else {TAGS: tags})
        if theirs:
            self.put(**THEIRS)

    def put(self, **tags):
        self.world.cloud.edit("update", type=TYPES[self.product.name], id=self.id, tags=tags)

    def tags(self):
        """Without those that mark the owner."""
        return {key: value for key, value in self.lb(self.id)["Tags"].items() if key not in (OWNER_TAG, CLUSTER_TAG)}

    def owned(self):
        return {OWNER_TAG, CLUSTER_TAG} <= self.lb(self.id)["Tags"].keys()

    def want(self, tags):
        self.world.kube.patch("Service", "web", {"metadata": {"annotations": {TAGS: tags}}})

    def label(self):
        return self.world.kube.get("Service", "web")["metadata"].get("labels", {}).get(LABEL)

    def restart(self, tags="unchanged"):
        """With another annotation meanwhile: (writes to the cloud, to the Service)."""
        self.world.stop_ccmd()
        if tags != "unchanged":
            self.want(tags)
        return self.start()

    def start(self):
        cloud, kube = self.world.cloud.mark(), self.world.kube.mark()
        self.world.start_ccmd()
        self.world.wait(lambda: self.world.cloud.actions(cloud), "the first calls", 30)
        self.world.settled()
        return self.writes(cloud), patches(self.world, kube)


def patches(world, since):
    return [action for action in world.kube.actions(since) if action.startswith("PATCH") and "/services/web" in action]


CHANGES = [
    pytest.param("a=1,b=2", None, {}, id="all-removed"),
    pytest.param("a=1,b=2", "b=2", {"b": "2"}, id="one-removed"),
    pytest.param("a=1,b=2", "a=1,b=3", {"a": "1", "b": "3"}, id="value-changed"),
    pytest.param("a=1", "A=1", {"A": "1"}, id="renamed"),
    pytest.param("a=1,b=", "c=3", {"c": "3"}, id="others"),
]


@BOTH
@pytest.mark.parametrize("before, after, expect", CHANGES)
def test_changed_while_nobody_runs(world, product, before, after, expect):
    tagged = Tagged(world, product, before)
    writes, _ = tagged.restart(after)
    assert tagged.tags() == {**expect, **THEIRS}
    assert tagged.owned() and len(writes) <= 2
    assert (tagged.label() is None) == (not expect)
    assert tagged.restart() == ([], [])


@BOTH
def test_an_edit_after_a_restart(world, product):
    tagged = Tagged(world, product, "a=1,b=2")
    assert tagged.restart() == ([], [])
    tagged.want("b=2")
    world.wait(lambda: tagged.tags() == {"b": "2", **THEIRS}, "one tag less", 30)
    tagged.want(None)
    world.wait(lambda: tagged.tags() == THEIRS and tagged.label() is None, "no tag of ours", 30)


@BOTH
def test_one_that_a_person_has_changed_stays(world, product):
    """Its key is ours, its value is not any more."""
    tagged = Tagged(world, product, "a=1,b=2")
    world.stop_ccmd()
    tagged.put(a="by-hand")
    tagged.want("b=2")
    tagged.start()
    assert tagged.tags() == {"a": "by-hand", "b": "2", **THEIRS}


@BOTH
def test_one_that_a_person_has_put_back_is_ours(world, product):
    tagged = Tagged(world, product, "a=1,b=2")
    world.stop_ccmd()
    tagged.put(a=None)
    tagged.put(a="1")
    tagged.want("b=2")
    tagged.start()
    assert tagged.tags() == {"b": "2", **THEIRS}


@BOTH
def test_marks_of_the_owner_stay(world, product):
    """Whatever the label is made of."""
    tagged = Tagged(world, product, "a=1")
    world.stop_ccmd()
    tagged.want(f"{OWNER_TAG}=x,{CLUSTER_TAG}=y")
    tagged.start()
    assert tagged.tags() == THEIRS and tagged.owned()


@BOTH
def test_crash_before_the_label_is_written(world, product):
    tagged = Tagged(world, product, "a=1")
    world.cloud.fault(action="UntagResources", cut="after", delay_ms=600000)  # it is done, and nobody is told
    tagged.want("b=2")
    world.wait(lambda: tagged.tags() == {"b": "2", **THEIRS}, "the new tags", 30)
    world.kill_ccmd()
    world.cloud.clear_faults()
    old = tagged.label()
    writes, _ = tagged.start()
    assert writes == [] and tagged.tags() == {"b": "2", **THEIRS}
    world.wait(lambda: tagged.label() not in (None, old), "the label", 30)
    tagged.restart(None)
    assert tagged.tags() == THEIRS and tagged.label() is None


@BOTH
def test_a_step_that_fails_in_between(world, product):
    """The tag stays known until it was taken off."""
    tagged = Tagged(world, product, "a=1")
    world.cloud.fault(action="UntagResources", count=1000, code="OperationDenied", http=400, message="Not now.")
    tagged.want("b=2")
    world.wait(lambda: tagged.said("web", "SyncLoadBalancerFailed"), "the failure", 30)
    world.settled()
    world.stop_ccmd()
    world.cloud.clear_faults()
    tagged.start()
    world.wait(lambda: tagged.tags() == {"b": "2", **THEIRS}, "no old tag", 30)


@BOTH
def test_more_than_a_label_holds(world, product):
    """Nothing is remembered, so nothing is taken off after a restart."""
    tagged = Tagged(world, product, ",".join(f"k{n}=v" for n in range(15)))
    assert len(tagged.label()) == 60
    tagged.want(",".join(f"k{n}=v" for n in range(16)))
    world.wait(lambda: tagged.label() is None and len(tagged.tags()) == 17, "no label", 30)
    world.settled()
    tagged.restart("k0=v")
    assert len(tagged.tags()) == 17
    assert len(tagged.label()) == 4


@BOTH
def test_what_the_label_costs(world, product):
    """Nothing without tags. With tags one write, before they are put on; it goes with the load balancer."""
    tagged = Tagged(world, product, None, theirs=False)
    plain = patches(world, 0)
    assert tagged.label() is None
    kube = world.kube.mark()
    tagged.want("a=1")
    world.wait(lambda: tagged.label() is not None, "the label", 30)
    world.settled()
    # The edit itself, the label, and the result.
    assert [action.rpartition("/")[2] for action in patches(world, kube)] == ["web", "status", "status"]
    world.kube.create(tagged.product.new("web-2", annotations={TAGS: "a=1"}))
    world.wait(lambda: tagged.said("web-2", "EnsuredLoadBalancer"), "the other one", 30)
    world.settled()
    other = [action for action in world.kube.actions() if action.startswith("PATCH") and "/services/web-2" in action]
    assert len(other) == len(plain) + 1
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP"}})
    world.wait(lambda: "finalizers" not in world.kube.get("Service", "web")["metadata"], "the end", 30)
    assert tagged.label() is None


@BOTH
def test_taken_over_without_the_label(world, product):
    """As another controller leaves it: nothing is written for the label alone; it comes with the next edit."""
    tagged = Tagged(world, product, "a=1,b=2")
    world.stop_ccmd()
    world.kube.patch("Service", "web", {"metadata": {"labels": {LABEL: None}}})
    assert tagged.start() == ([], [])
    assert tagged.label() is None
    tagged.want("a=1")
    world.wait(lambda: tagged.tags() == {"a": "1", **THEIRS} and tagged.label() is not None, "one tag less", 30)
    world.settled()
    tagged.restart(None)
    assert tagged.tags() == THEIRS


@BOTH
def test_on_somebody_elses_load_balancer_there_is_no_label(world, product):
    """Whoever edits the Service could have tags of others taken off."""
    console = Console(world, product)
    views.nodes(world, 1)
    lb_id = console.product.make_lb("shared", {}, {"theirs": "1"})[0]
    console.serving(annotations={PREFIX + "id": lb_id, PREFIX + "force-override-listeners": "true", TAGS: "a=1"})
    assert console.lb(lb_id)["Tags"].items() >= {"a": "1", "theirs": "1"}.items()
    assert LABEL not in world.kube.get("Service", "web")["metadata"]["labels"]
