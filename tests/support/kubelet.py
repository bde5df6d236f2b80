"""Containers of a pod in the roots of their images, with volumes, folder modes and users as a kubelet gives them. By bubblewrap, as root."""

import os
import platform
import shutil
import signal
import subprocess

import pytest

from . import proc

HOST = "/run/host"  # where the system of this machine is, for the program that gives up root's rights
GIVE_UP = [f"{HOST}/lib64/ld-linux-x86-64.so.2", "--library-path", f"{HOST}/lib/x86_64-linux-gnu:{HOST}/usr/lib/x86_64-linux-gnu",
           f"{HOST}/usr/bin/setpriv"]


def need():
    """Skip the test where this machine cannot do it."""
    if os.geteuid() != 0 or platform.machine() != "x86_64":
        pytest.skip("volumes of several owners: as root, on x86_64")
    for tool in ("bwrap", "setpriv"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/bootstrap.sh test")
    if subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("bubblewrap may not mount here")


def shell_root(folder, files):
    """The root of an image that has a shell and cp, and `files`: {path in it: file}. (Its /usr comes from this machine.)"""
    os.makedirs(folder)
    for name in ("bin", "lib", "lib64"):
        os.symlink(f"usr/{name}", os.path.join(folder, name))
    for path, file in files.items():
        shutil.copy(file, os.path.join(folder, path.lstrip("/")))
    return folder


class Pod:
    """`spec` as in a pod. `given`: {name of a volume that is no emptyDir: its folder}."""

    def __init__(self, folder, spec, given=None):
        self.spec = spec
        self.group = spec["securityContext"]["fsGroup"]
        self.user = spec["securityContext"]["runAsUser"]
        self.volumes = dict(given or {})
        self.processes = []
        for volume in spec["volumes"]:
            if "emptyDir" in volume:
                path = self.volumes[volume["name"]] = os.path.join(folder, volume["name"])
                os.makedirs(path)
                os.chown(path, 0, self.group)
                os.chmod(path, 0o2777)

    def _mount(self, root, mount):
        """Arguments for one volumeMount. The runtime makes the place for it, the kubelet a subPath that nobody has made."""
        path = self.volumes[mount["name"]]
        if "subPath" in mount:
            whole, path = path, os.path.join(path, mount["subPath"])
            if not os.path.exists(path):
                os.makedirs(path)
                os.chmod(path, os.stat(whole).st_mode & 0o7777)
        os.makedirs(root + mount["mountPath"], exist_ok=True)
        return ["--ro-bind" if mount.get("readOnly") else "--bind", path, mount["mountPath"]]

    def argv(self, container, root, command):
        """How to run the container over the root of its image. `command`: the image's own, when the spec has none."""
        user = container.get("securityContext", {}).get("runAsUser", self.user)
        for path in (HOST, "/proc", "/dev"):
            os.makedirs(root + path, exist_ok=True)
        binds = ["--ro-bind", root, "/", "--ro-bind", "/", HOST, "--proc", "/proc", "--dev", "/dev"]
        if os.path.islink(os.path.join(root, "bin")):
            os.makedirs(os.path.join(root, "usr"), exist_ok=True)
            binds += ["--ro-bind", "/usr", "/usr"]
        for mount in container["volumeMounts"]:
            binds += self._mount(root, mount)
        rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        give_up = [*GIVE_UP, "--reuid", str(user), "--regid", str(user), "--groups", str(self.group), "--no-new-privs"]
        return ["bwrap", *binds, *rights, *give_up, *container.get("command", command), *container.get("args", [])]

    def run(self, container, root, command=(), args=None):
        """(exit code, output)"""
        if args is not None:
            container = {**container, "args": args}
        done = subprocess.run(self.argv(container, root, command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60 * proc.SLOW, check=False)
        return done.returncode, done.stdout

    def start(self, container, root, command, prefix, env):
        process = proc.Process(self.argv(container, root, command), prefix, env=env)
        self.processes.append(process)
        return process

    def close(self):
        for process in self.processes:
            if process.alive():
                os.killpg(process.popen.pid, signal.SIGTERM)  # the runtime, and what runs in it
            process.popen.wait(60 * proc.SLOW)
