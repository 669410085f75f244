"""`python -m pengp` is the command line."""

from pengp.cli import main

if __name__ == "__main__":
    main()
