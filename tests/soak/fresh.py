"""The same objects in a world without a past: what ccmd makes of them there is what it has to have made of them here."""

import json

from .gates import bare_state
from .picture import Picture
from .setting import Setting

OUR_LABELS = ("service.beta.kubernetes.io/hash", "service.k8s.alibaba/", "ccm.alibabacloud.com/")


def bare(item):
    """A Service as its owner wrote it."""
    meta = {key: value for key, value in item["metadata"].items() if key != "finalizers"}
    meta["labels"] = {key: value for key, value in meta.get("labels", {}).items() if not key.startswith(OUR_LABELS)}
    return {**item, "metadata": meta, "status": {"loadBalancer": {}}}


def picture_of(build, folder, state, ids):
    """state: of the API server; ids: what the load balancers of persons are called here."""
    with Setting(build, folder, chaos=False) as setting:
        text = json.dumps({"nodes": state["nodes"], "endpointslices": state["endpointslices"],
                           "services": [bare(item) for item in state["services"]], **bare_state(state)})
        for name, known in ids.items():
            text = text.replace(f'"{known}"', f'"{setting.ids[name]}"')
        setting.world.kube.http.request("POST", "/_sim/restore", json.loads(text))
        setting.world.start_ccmd()
        setting.world.wait(lambda: setting.world.idle(3000), "the fresh world to be idle", 120, every=0.2)
        made = Picture(setting.world.cloud.state(), setting.world.kube.state(), {known: name for name, known in setting.ids.items()})
    return made
