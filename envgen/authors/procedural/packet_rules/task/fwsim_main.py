def main():
    """fwsim RULES < packets: the verdict on each packet."""
    import sys

    with open(sys.argv[1]) as stream:
        try:
            rules = parsed(stream.read())  # noqa: F821
        except ValueError as error:
            sys.exit(f"fwsim: {error}")
    for line in sys.stdin:
        if line.strip() and not line.startswith("#"):
            packet = " ".join(line.split()[:5])
            print(packet, verdict(rules, packet))  # noqa: F821


main()
