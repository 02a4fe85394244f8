"""Hosts: network namespaces on a bridge, each with a small file system. None of them outlives this program.

enter() starts this program again in namespaces of its own, if that is allowed. If not, servers listen on addresses of loopback,
and no server can be cut off or filled up.
"""

import os
import shutil
import signal
import subprocess
import sys

INSIDE = "RLOCK_CHAOS_NAMESPACES"


def quietly(*argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def enter():
    """Returns only in the new namespaces, or if they are not allowed or not wanted (RLOCK_CHAOS_NAMESPACES=no)."""
    if os.environ.get(INSIDE) == "yes":
        return
    wanted = os.environ.get(INSIDE) != "no"
    for how in (["unshare", "-nm"], ["unshare", "-Urnm"]) if wanted else ():
        if (
            shutil.which("ip")
            and shutil.which("bridge")
            and quietly(
                *how,
                "sh",
                "-c",
                "ip link add chaos0 type bridge && ip link add chaos1 type veth peer name chaos2 && "
                "ip link set chaos1 master chaos0 up && mount -t tmpfs none /mnt",
            )
        ):
            os.environ[INSIDE] = "yes"
            os.execvp(how[0], [*how, "--", sys.executable, *sys.argv])
    os.environ[INSIDE] = f"no, {os.getpid()}"
    if wanted:
        print(f"skipped: chaos: servers that are cut off, partitions and full disks: {refusal()}", flush=True)


def refusal():
    """Why this machine allows no namespaces."""
    done = subprocess.run(
        ["unshare", "-nm", "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.stderr.strip() or "namespaces are allowed, but no bridge, or no file system, in them"


def loopback():
    """The first two bytes of our loopback addresses. They depend on our pid: other tests may run on this machine."""
    return f"127.{16 + int(os.environ[INSIDE].split()[-1]) % 200}"


class Host:
    """A place in the network for one server, with a folder of its own."""

    def __init__(self, network, number, folder):
        self.number = number
        self.address = f"{network.base}.{number}"
        self.folder = folder
        self.prefix = []
        os.mkdir(folder)
        if not network.real:
            return
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", folder], check=True)
        # This process keeps the namespace alive. `cat` ends when our end of its pipe is closed, even if we are killed.
        self.keeper = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo && exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.keeper.stdout.readline()
        self.link = f"v{network.serial}x{number}"
        pid = str(self.keeper.pid)
        self.prefix = ["nsenter", f"--net=/proc/{pid}/ns/net", "--"]
        for argv in (
            ["ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", pid],
            ["ip", "link", "set", self.link, "master", network.bridge, "up"],
            [*self.prefix, "ip", "addr", "add", f"{self.address}/24", "dev", "eth0"],
            [*self.prefix, "ip", "link", "set", "eth0", "up"],
            [*self.prefix, "ip", "link", "set", "lo", "up"],
        ):
            subprocess.run(argv, check=True)

    def cut(self, yes):
        """Drops all packets from and to other hosts."""
        subprocess.run(["bridge", "link", "set", "dev", self.link, "state", "0" if yes else "3"], check=True)

    def fill(self, yes):
        """Fills the file system of its folder to the last byte, or frees it again."""
        ballast = os.path.join(self.folder, "ballast")
        if not yes:
            os.unlink(ballast)
            return
        with open(ballast, "wb", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass

    def end(self):
        if self.prefix:
            self.keeper.stdin.close()
            self.keeper.wait()
            quietly("umount", "-l", self.folder)


class Network:
    def __init__(self, folder, serial):
        """`serial`: 1 to 254; no two networks may have the same one at the same time."""
        self.serial = serial
        self.real = os.environ.get(INSIDE) == "yes"
        self.base = f"10.77.{self.serial}" if self.real else f"{loopback()}.{self.serial}"
        self.folder = folder
        self.hosts = []
        if not self.real:
            return
        self.bridge = f"b{self.serial}"
        for argv in (
            ["ip", "link", "set", "lo", "up"],
            ["ip", "link", "add", self.bridge, "type", "bridge"],
            ["ip", "addr", "add", f"{self.base}.254/24", "dev", self.bridge],
            ["ip", "link", "set", self.bridge, "up"],
        ):
            subprocess.run(argv, check=True)

    def host(self):
        number = len(self.hosts) + 1
        self.hosts.append(Host(self, number, os.path.join(self.folder, f"host{number}")))
        return self.hosts[-1]

    def end(self):
        for host in self.hosts:
            host.end()
        if self.real:
            quietly("ip", "link", "delete", self.bridge)


def send(pid, number):
    """Sends a signal. Returns False if the process is gone."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def die(process):
    if process.poll() is None:
        send(process.pid, signal.SIGCONT)
        process.kill()
    process.wait()
