# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs and files for a user without rights, wherever the build folder is (a clone in /root, say)."""
import atexit
import os
import shutil
import tempfile


def is_open(path):
    while path != "/":
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & 0o001:
            return False
    return True


def for_everyone(path):
    """The same file where everyone can reach it: a copy when a folder above it is closed to others."""
    path = os.path.abspath(path)
    if os.geteuid() != 0 or not os.path.exists(path) or is_open(path):
        return path
    folder = tempfile.mkdtemp(prefix="xdspub-access-")
    os.chmod(folder, 0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return shutil.copy(path, folder)
