"""The API server in a soak: away for a while, or replaced by one without any object that gets those of a backup."""

import signal

from .until import until


class Server:
    def __init__(self, setting, random, trace, faults, orphans):
        self.world = setting.world
        self.random = random
        self.trace = trace
        self.faults = faults
        self.orphans = orphans

    def pause(self):
        """Nobody answers for a while."""
        seconds = self.random.uniform(0.5, 4)
        self.trace.note("API server away", f"{seconds:.1f}", "s")
        self.world.kubesim.popen.send_signal(signal.SIGSTOP)
        until(lambda: False, seconds)
        self.world.kubesim.popen.send_signal(signal.SIGCONT)

    def replace(self, meanwhile):
        """A backup is made, some things go on (none that makes or ends a Service: what the backup does not know is lost), the
        server dies, an empty one stands in its place, and then the objects of the backup are there again."""
        backup = self.world.kube.state()
        for _ in range(self.random.choice((0, 0, 10, 40))):
            meanwhile()
        empty = self.random.choice((0, 0.5, 3))
        self.trace.note("API server replaced", "empty for", empty, "s")
        self.faults.count_server()
        self.world.restart_kubesim()
        self.faults.begin_server()
        until(lambda: False, empty)
        self.orphans.restored(backup)
        self.world.kube.http.request("POST", "/_sim/restore", backup)
        self.trace.note("restored", len(backup["services"]), "Services")
