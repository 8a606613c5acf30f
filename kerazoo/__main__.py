"""`python -m kerazoo` is the command `kerazoo`."""

from kerazoo.cli.main import main

if __name__ == "__main__":
    main()
