#!/usr/bin/env python3
"""Listens on all ports that are named and says yes to everything: TCP, UDP, HTTP.

stub.py WORDS PORT...; WORDS is the JSON that HTTP gets.
"""

import selectors
import socket
import sys
import threading

WORDS, PORTS = sys.argv[1].encode(), [int(word) for word in sys.argv[2:]]
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
METHODS = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"OPTIONS ", b"PATCH ")


def talk(client):
    with client:
        client.settimeout(10)
        try:
            while True:
                data = client.recv(65536)
                if not data:
                    return
                if data.startswith(METHODS):
                    client.sendall((HEAD % len(WORDS)).encode() + WORDS)
                else:
                    client.sendall(b"+OK\r\n")
        except OSError:
            return


def main():
    watched = selectors.DefaultSelector()
    for port in PORTS:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            try:
                made = socket.socket(socket.AF_INET, kind)
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.bind(("0.0.0.0", port))
                if kind == socket.SOCK_STREAM:
                    made.listen()
                watched.register(made, selectors.EVENT_READ, kind)
            except OSError:
                continue
    while True:
        for key, _ in watched.select():
            if key.data == socket.SOCK_STREAM:
                client, _ = key.fileobj.accept()
                threading.Thread(target=talk, args=(client,), daemon=True).start()
            else:
                data, sender = key.fileobj.recvfrom(65536)
                if len(data) > 3:
                    data = data[:2] + bytes((data[2] | 0x80,)) + data[3:]
                key.fileobj.sendto(data, sender)


main()
