# SPDX-License-Identifier: Apache-2.0
"""A federation of XRootD servers: a redirector, two data servers, and a caching proxy in front, each with its own directory."""

import contextlib
import shutil
import signal
import subprocess
import time

import pytest

import mounted
import xrootd_server
from xrootd_server import XrootdServer, free_port


class Member(XrootdServer):
    """A server with a cluster manager daemon beside it."""

    def __init__(self, role, manager_port, *lines):
        if shutil.which("cmsd") is None:
            pytest.skip("cmsd is not installed")
        self.cmsd = None
        own = free_port()
        super().__init__(f"all.role {role}", f"all.manager 127.0.0.1:{manager_port}", "cms.allow host *",
                         "cms.delay startup 2 lookup 1 qdl 1 full 1 servers 1",
                         *(["if exec cmsd", f"xrd.port {own}", "fi"] if role == "server" else []), *lines)

    def start(self):
        super().start()
        command = xrootd_server.as_user("cmsd", "-c", f"{self._base}/server.cfg", "-n", "test", "-l", f"{self._base}/cmsd.log")
        self.cmsd = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     cwd=self._base)

    def pause(self):
        for process in (self.process, self.cmsd):
            mounted.stop_threads(process.pid)

    def resume(self):
        for process in (self.process, self.cmsd):
            process.send_signal(signal.SIGCONT)

    def kill(self):
        self.stop()
        self.cmsd.kill()
        self.cmsd.wait()

    def __exit__(self, *_):
        if self.cmsd and self.cmsd.poll() is None:
            self.cmsd.kill()
            self.cmsd.wait()
        super().__exit__()


class Federation:
    """`with Federation() as f:` f.redirector, f.servers, f.proxy."""

    def __enter__(self):
        xrootd_server.require()
        with contextlib.ExitStack() as stack:
            port = free_port()
            self.redirector = stack.enter_context(Member("manager", port))
            self.servers = [stack.enter_context(Member("server", port)) for _ in range(2)]
            self.proxy = stack.enter_context(self._proxy())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _proxy(self):
        """Of any origin that a URL names, and of the redirector for other paths. It keeps whole blocks, in a directory with
        nothing else in it: version 5.5 ends with SIGSEGV when it meets other files there."""
        origin = f"127.0.0.1:{self.redirector.port}"
        return XrootdServer("ofs.osslib libXrdPss.so", f"pss.origin =xroot,root {origin}", "pss.cachelib libXrdPfc.so", "pfc.blocksize 128k",
                            "pfc.prefetch 0", "pfc.ram 1g", "oss.localroot {base}/data", "all.export /root:/", "all.export /xroot:/")

    def wait_for(self, url, limit=20):
        """Until the redirector finds a file."""
        deadline = time.monotonic() + limit
        while (done := subprocess.run([mounted.program(), "ls", "-o", "timeout=5", url], capture_output=True)).returncode != 0:
            if time.monotonic() > deadline:
                pytest.skip(f"the redirector does not find {url}: {done.stderr.decode()}")
            time.sleep(0.2)
