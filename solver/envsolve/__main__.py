"""`python -m envsolve`."""

from envsolve.cli.app import main

if __name__ == "__main__":
    main()
