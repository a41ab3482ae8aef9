# mypy: ignore-errors
# ruff: noqa: F821
def main():
    """fwsim RULES < packets: the verdict on each packet."""
    import sys

    with open(sys.argv[1]) as stream:
        try:
            rules = parsed(stream.read())
        except ValueError as error:
            sys.exit(f"fwsim: {error}")
    for line in sys.stdin:
        if line.strip() and not line.startswith("#"):
            packet = " ".join(line.split()[:5])
            print(packet, verdict(rules, packet))


main()
