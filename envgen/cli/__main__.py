"""`python -m envgen.cli`."""

from envgen.cli import main

if __name__ == "__main__":
    main()
