# mypy: ignore-errors
"""ask.py PORT NAME TYPE: one question, and the answer in hex."""

import socket
import struct
import sys

name = b"".join(bytes([len(p)]) + p.encode() for p in sys.argv[2].split(".")) + b"\0"
door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
door.settimeout(10)
packet = struct.pack(">6H", 7, 256, 1, 0, 0, 0) + name + struct.pack(">HH", int(sys.argv[3]), 1)
door.sendto(packet, ("127.0.0.1", int(sys.argv[1])))
print(door.recv(4096).hex())
