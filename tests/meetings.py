"""Processes of a run that are threads here, for the tests of what they agree on."""

import threading

from kerazoo.training.meeting import Meeting


def meetings_of(count):
    """Meetings of processes that are threads here."""
    told, barrier = [""] * count, threading.Barrier(count, timeout=9)

    def exchange_of(number):
        def exchange(words):
            told[number] = words
            barrier.wait()
            all_told = list(told)
            barrier.wait()
            return all_told

        return exchange

    return [Meeting(exchange_of(number), number) for number in range(count)]


def results_of(*functions):
    """What functions, each in a thread of its own, give or raise."""
    results = [None] * len(functions)

    def kept(number):
        try:
            results[number] = functions[number]()
        except ValueError as error:
            results[number] = str(error)

    threads = [threading.Thread(target=kept, args=(number,)) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
