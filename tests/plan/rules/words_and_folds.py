from collections import deque

from sqlstream.udf import AggregateFunction, udaf, udf


@udf
def shout(word: str) -> str:
    return word.upper()


class Latest(AggregateFunction):
    def create_accumulator(self):
        return deque(maxlen=1)

    def accumulate(self, kept, n: int) -> None:
        kept.append(n)

    def get_value(self, kept) -> int:
        return kept[0]


latest = udaf(Latest())
