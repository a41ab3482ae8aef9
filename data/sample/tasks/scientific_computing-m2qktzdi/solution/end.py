

if __name__ == "__main__":
    sys.stdout.write(table(sys.stdin.read()))
