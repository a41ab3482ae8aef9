"""Programs that the plans of `fixture_plans.py` are made of."""

C = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a checksum over words and prints it in base {base}. */
static unsigned step(unsigned sum, int c) {{ return sum * {factor}u + (unsigned)c * {weight}u; }}

int main(int argc, char **argv) {{
  char word[256];
  unsigned sum = {start}u;
  if (argc > 2) {{
    fputs("at most one argument\\n", stderr);
    return {status};
  }}
  if (argc == 2)
    for (const char *p = argv[1]; *p; p++) sum = step(sum, *p);
  while (scanf("%255s", word) == 1)
    for (size_t i = 0; i < strlen(word); i++) sum = step(sum, word[i]);
  do putchar("0123456789abcdef"[sum % {base}]); while (sum /= {base});
  putchar('\\n');
  return 0;
}}
"""
GO = """\
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {{
	sum := uint32({start})
	words := bufio.NewScanner(os.Stdin)
	words.Split(bufio.ScanWords)
	for _, word := range os.Args[1:] {{
		sum = sum*{factor} + uint32(len(word))*{weight}
	}}
	for words.Scan() {{
		for _, c := range words.Text() {{
			sum = sum*{factor} + uint32(c)
		}}
	}}
	fmt.Printf("%x\\n", sum%{base}000)
}}
"""
PYTHON_PACKAGE = '''\
"""Splits amounts over shares, to the cent."""


def split(total, shares):
    """Whole cents for each share; what is left over goes to the first ones."""
    whole = sum(shares)
    parts = [total * share // whole for share in shares]
    for place in range(total - sum(parts)):
        parts[place % len(parts)] += 1
    return parts


def rounded(cents, step={step}):
    """To the next multiple of the step; halves go up."""
    return (cents + step // 2) // step * step
'''
C_HEADER = "unsigned {name}_sum(const unsigned char *data, unsigned long size);\n"
C_SOURCE = """\
#include "{name}.h"

unsigned {name}_sum(const unsigned char *data, unsigned long size) {{
  unsigned sum = {step};
  for (unsigned long i = 0; i < size; i++) {{
    sum ^= data[i];
    for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >> 1) ^ 0xa001u : sum >> 1;
  }}
  return sum & 0xffffu;
}}
"""
C_PROBE = """\
#include <stdio.h>
#include "{name}.h"

int main(void) {{
  printf("%04x %04x\\n", {name}_sum((const unsigned char *)"123456789", 9),
         {name}_sum((const unsigned char *)"", 0));
  return 0;
}}
"""
STORE = """\
import json
import socketserver
import sys

CONFIG = json.load(open(sys.argv[1]))
VALUES = {}


class Talk(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            words = line.decode().split()
            if words[:1] == ["SET"] and len(words) == 3:
                VALUES[words[1]] = words[2]
                self.wfile.write(b"OK\\n")
            elif words[:1] == ["GET"] and len(words) == 2:
                self.wfile.write((VALUES.get(words[1], "NONE") + "\\n").encode())
            else:
                self.wfile.write(b"ERROR\\n")


socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("127.0.0.1", CONFIG["port"]), Talk).serve_forever()
"""
FRONT = """\
import http.server
import json
import socket
import sys

CONFIG = json.load(open(sys.argv[1]))


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            with socket.create_connection(("127.0.0.1", CONFIG["store"]), 2) as link:
                link.sendall(f"GET {self.path.strip('/')}\\n".encode())
                body = link.makefile().readline().encode()
        except OSError:
            self.send_error(502)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", CONFIG["port"]), Page).serve_forever()
"""
