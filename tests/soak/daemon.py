"""ccmd in a soak: killed, stopped, paused while another one takes over, and started again by whoever supervises it."""

import signal
import time

from tests.support import proc
from tests.support.world import wait

from .setting import LEASE_S
from .trace import Finding
from .until import until

# why it ends by itself, and rightly so: a supervisor starts it again
LOST = "leader election lost"
STEP_S = 0.05


class Daemon:
    def __init__(self, setting, random, trace):
        self.world = setting.world
        self.random = random
        self.trace = trace
        self.memory = []  # (pid, seconds since the beginning, resident KiB)

    def start(self):
        self.world.start_ccmd()

    def supervise(self):
        """Start it again when it has ended because of the Lease; anything else is a finding."""
        process = self.world.ccmd
        if process.alive():
            self._look_at_memory(process)
            return
        process.check_complaints()
        if LOST not in process.err() or process.popen.returncode != 1:
            raise Finding(f"ccmd ended with {process.popen.returncode}:\n{process.err()[-3000:]}")
        self.trace.note("lease lost")
        self.start()

    def _look_at_memory(self, process):
        try:
            with open(f"/proc/{process.popen.pid}/status", encoding="utf-8") as file:
                kib = next((int(line.split()[1]) for line in file if line.startswith("VmRSS:")), 0)
        except (FileNotFoundError, ProcessLookupError):
            return
        self.memory.append((process.popen.pid, time.monotonic() - self.trace.began, kib))

    def kill(self):
        self.trace.note("kill -9")
        self.world.kill_ccmd()
        self.start()

    def restart(self):
        """SIGTERM: it ends well, unless the Lease was lost at the same moment."""
        self.trace.note("SIGTERM")
        process, self.world.ccmd = self.world.ccmd, None
        process.popen.send_signal(signal.SIGTERM)
        code = process.wait_exit(60)
        process.check_complaints()
        if code != 0 and LOST not in process.err():
            raise Finding(f"SIGTERM: ccmd ended with {code}:\n{process.err()[-3000:]}")
        self.start()

    def pause(self, meanwhile):
        """SIGSTOP of the leader, until another one leads; then it wakes up, and has to end without a further write."""
        first = self.world.ccmd
        if "leads now" not in first.err():
            return
        self.trace.note("SIGSTOP")
        first.popen.send_signal(signal.SIGSTOP)
        second = self.world.start_ccmd()
        until(lambda: "leads now" in second.err() or not second.alive() or meanwhile(), 6 * LEASE_S * proc.SLOW, STEP_S)
        first.popen.send_signal(signal.SIGCONT)
        if "leads now" not in second.err():
            first.kill()  # the faults of the API server hit both: supervised as ever
            return
        self.trace.note("taken over")
        if first.wait_exit(60) != 1 or LOST not in first.err():
            raise Finding(f"the old leader ended with {first.popen.returncode}:\n{first.err()[-3000:]}")
        first.check_complaints()

    def leads(self):
        return self.world.ccmd.alive() and "leads now" in self.world.ccmd.err()

    def wait_leading(self):
        wait(lambda: self.supervise() or self.leads(), "a leader", 60)
