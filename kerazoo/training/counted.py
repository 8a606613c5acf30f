"""A number with the noun that it counts. Importing this imports no framework."""


def counted(number: int, noun: str) -> str:
    """Return "1 row" or "2,345 rows".

    Args:
        number: int, how many there are.
        noun: what is counted, in the singular; its plural ends in s.
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
