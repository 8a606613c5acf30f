"""The command `kerazoo`: a command reads its options and calls one plain function."""
