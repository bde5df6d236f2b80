"""make sandbox: both simulators and ccmd left running, for kubectl in another terminal."""

import argparse
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.support import views  # noqa: E402
from tests.support.world import World  # noqa: E402

TEXT = """
The sandbox is running: an API server with three nodes, a cloud, and ccmd between them.

  export KUBECONFIG={kubeconfig}

  kubectl apply -f tests/support/sandbox.yaml        two Services of type LoadBalancer: web (CLB), shop (NLB)
  kubectl get service,events
  kubectl patch endpointslice web-1 --type json -p '[{{"op":"remove","path":"/endpoints/1"}}]'
  kubectl cordon node-1
  kubectl patch service web -p '{{"spec":{{"type":"ClusterIP"}}}}'

  curl -s {cloud}/_sim/state        what the cloud holds
  curl -s {cloud}/_sim/calls        every call that was made to it
  tail -f {log}
  {admin}/statusz                   for a browser: what ccmd does, what fails, when it is tried next

Ctrl-C ends it.
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    folder = os.path.abspath(os.path.join(args.build, "sandbox"))
    stop = signal.SIGINT, signal.SIGTERM
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith("ccmd-"):
            os.unlink(os.path.join(folder, name))
    with World(args.build, folder) as world:
        views.nodes(world, 3)
        world.config = world.write_config(plugins='{ name = "clb"; workers = 4; }, { name = "nlb"; workers = 4; }')
        process = world.start_ccmd()
        print(TEXT.format(kubeconfig=os.path.abspath(world.kubeconfig), cloud=world.cloud.base, admin=world.admin_base(), log=process.err_path),
              flush=True)
        signal.sigwait(stop)
        print("stopping", flush=True)


if __name__ == "__main__":
    main()
