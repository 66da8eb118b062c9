#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls xds:///SERVICE until stdin ends and prints a line per call; see tests/clients/README.md."""
import os
import sys
import threading
import time

import grpc


def end_with_stdin():
    sys.stdin.read()
    os._exit(0)


def call(who):
    try:
        return "ok " + who(b"", timeout=10).decode()
    except grpc.RpcError as error:
        return f"failed {error.code().value[0]} {error.details()}"


def main():
    threading.Thread(target=end_with_stdin, daemon=True).start()
    who = grpc.insecure_channel("xds:///" + sys.argv[1]).unary_unary("/echo.Echo/Who")
    while True:
        print(call(who), flush=True)
        time.sleep(0.005)


main()
