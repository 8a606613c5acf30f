"""Which arguments go together with a CRF. Imports no framework."""


def check_crf_arguments(crf: bool, ban_illegal_moves: bool, label_all_pieces: bool) -> None:
    """Raise ValueError if arguments do not fit a CRF, or its absence.

    Args:
        crf: bool, whether there is one.
        ban_illegal_moves: bool, whether it gives no I- that goes on with no entity of its type.
        label_all_pieces: bool, whether all tokens of a word have tags.
    """
    if ban_illegal_moves and not crf:
        raise ValueError(
            "Only a CRF can ban illegal moves; ask for both, or for neither. "
            "Received: ban_illegal_moves=True, crf=False"
        )
    if crf and label_all_pieces:
        raise ValueError(
            "A CRF runs over words, so it has one tag a word. "
            "Received: crf=True, label_all_pieces=True"
        )
