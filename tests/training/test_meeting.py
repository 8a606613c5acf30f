import json

from meetings import meetings_of, results_of

from kerazoo.training.meeting import Meeting
from kerazoo.training.process_exchange import LONGEST


def test_all_are_told_what_each_found():
    first, second, third = meetings_of(3)
    tell = [lambda m=m: m.tell({"step": m.process + 4}) for m in (first, second, third)]
    assert results_of(*tell) == [[{"step": 4}, {"step": 5}, {"step": 6}]] * 3
    assert [m.is_chief for m in (first, second, third)] == [True, False, False]
    assert not first.is_over


def test_an_error_of_one_ends_all():
    first, second, third = meetings_of(3)
    results = results_of(
        lambda: first.tell({"step": 4}),
        lambda: second.excuse(OSError("no such folder 电影")),
        lambda: third.tell({}),
    )
    sentence = "Process 2 of 3 cannot begin, so none does. It says: no such folder 电影"
    assert results == [sentence, None, sentence]
    assert first.is_over and second.is_over and third.is_over


def test_after_the_meeting_nothing_is_told():
    told = []
    meeting = Meeting(told.append, 0)
    meeting.is_over = True
    meeting.excuse(ValueError("later"))
    assert told == []


def test_the_longest_sentence_can_be_told():
    told = []
    Meeting(told.append, 1).excuse(ValueError("影" * 9999))
    assert len(told[0].encode()) < LONGEST
    assert set(json.loads(told[0])["error"]) == {"影"}
    Meeting(told.append, 1).excuse(KeyError())
    assert json.loads(told[1])["error"] == "KeyError"
