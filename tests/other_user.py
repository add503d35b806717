# SPDX-License-Identifier: Apache-2.0
"""The view of another user of the machine: a function run with that user's ids, in a separate process."""

import os
import pickle

OWNER, READER = 23001, 23002  # users, and their groups, that the machine need not know


class Refused(OSError):
    """An OSError that the other user got."""


def run_as(user, function, *arguments, groups=(), group=None, umask=0o022):
    """Runs function(*arguments) as a user; returns its value, or raises its OSError as Refused."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer = (None, (0, "the process ended"))
        try:
            os.close(read)
            os.setgroups(list(groups))
            gid = user if group is None else group
            os.setresgid(gid, gid, gid)
            os.setresuid(user, user, user)
            os.umask(umask)
            answer = (function(*arguments), None)
        except OSError as error:
            answer = (None, (error.errno, str(error)))
        finally:
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(answer, pipe)
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    value, error = pickle.loads(answer)
    if error is not None:
        raise Refused(*error)
    return value


def read_file(path):
    with open(path, "rb") as file:
        return file.read()
