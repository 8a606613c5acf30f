"""What is wrong with one of the rows that a task is asked about."""


class RowError(ValueError):
    """An error that says which row it is about; who read the rows from a file knows where it is.

    Args:
        row: int, the row's number among those that were passed on, from 0.
        fault: what is wrong with it and what to do.
    """

    def __init__(self, row: int, fault: str) -> None:
        """Say it with the row's number."""
        super().__init__(f"Row {row}: {fault}")
        self.row = row
        self.fault = fault
