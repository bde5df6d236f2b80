"""A command behind a terminal of 80 columns: what is seen there."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def run(argv, err_only=False, **env):
    """(exit code, standard output, what came to the terminal). err_only: standard output is no terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if err_only else slave, stderr=slave,
                          env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **env}) as process:
        os.close(slave)
        seen = b""
        try:
            while more := os.read(master, 4096):
                seen += more
        except OSError:
            pass  # its end
        out = process.stdout.read() if err_only else b""
    os.close(master)
    return process.returncode, out.decode(), seen.decode()
