#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A gRPC server per NAME that answers every call with its name; prints `NAME PORT` lines, ends with stdin."""
import sys
from concurrent import futures

import grpc


class Echo(grpc.GenericRpcHandler):
    def __init__(self, name):
        self.name = name.encode()

    def service(self, _):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: self.name)


def start(name, pool):
    server = grpc.server(pool, handlers=[Echo(name)], options=[("grpc.so_reuseport", 0)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(name, port, flush=True)
    return server


def main():
    pool = futures.ThreadPoolExecutor(8)
    servers = [start(name, pool) for name in sys.argv[1:]]
    sys.stdin.read()
    for server in servers:
        server.stop(0)


main()
