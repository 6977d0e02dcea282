"""The words that a document uses most, its headings counted more."""

import re
from collections import Counter
from collections.abc import Iterable

MOST = 10
_WORD = re.compile(r"[^\W\d_][\w'’-]{2,40}")
_STOP = frozenset(
    """a about above after again all also although am an and any are aren't as at be because been before being below between both but
    by can cannot could did do does doing done don't down during each either else etc every few for from further get gets given
    has had have having he her here hers him his how however i if in into is isn't it its itself just know less let like made make
    many may me might more most must my need needs new no nor not now of off often on once one only onto or other others our out
    over own per please same see set shall she should since so some such take than that that's the their them then there these
    they this those through thus to too two under until up upon us use used user users uses using very via want was we well were
    what when where whether which while who whom whose why will with within without would yes yet you your yours
    first second third following based allow allows able ensure include includes including example value values name type data
    file files page pages item items line number true false null none string int integer boolean object array description
    und der die das den dem des ein eine einer eines ist sind mit von für auf nicht auch als wird werden oder bei aus nach zur zum
    wie wenn kann muss soll dass ich sie wir hat haben le la les des une est sont dans pour avec sur pas qui que par plus ce cette
    el los las una del con por para como más pero sus este esta son ser
    return const let var import function class public private static void def self async await require export default from
    http https www com org href div span html""".split()
)  # fmt: skip


def keywords(title: str, headings: Iterable[str], text: str, most: int = MOST) -> list[str]:
    """At most `most` words, the weightiest first, as the document mostly spells them."""
    weights, spelled, seen = Counter[str](), Counter[tuple[str, str]](), Counter[str]()
    for part, weight in ((title, 6), (" ".join(list(headings)[:60]), 3), (text[:100_000], 1)):
        for word in _WORD.findall(part):
            for piece in _pieces(word):
                key = _stem(piece.lower())
                if piece.lower() in _STOP or len(piece) < 3:
                    continue
                weights[key] += min(weight, max(0, 40 - seen[key]))
                seen[key] += 1
                spelled[key, piece] += 1
    usual: dict[str, str] = {}
    for (key, piece), _count in spelled.most_common():
        usual.setdefault(key, piece if piece.isupper() and len(piece) <= 6 else piece.lower())
    return [usual[key] for key, weight in weights.most_common(most * 3) if weight > 1 or len(weights) <= most][:most]


def _pieces(word: str) -> list[str]:
    """`checkoutPage` and `order_id` are two words each."""
    word = word.strip("'’-")
    if word.isupper() or "-" in word:
        return [word] if len(word) <= 30 else []
    return [one for one in re.split(r"_+|(?<=[a-zß-ÿ])(?=[A-Z])", word) if one and not one.isdigit()]


def _stem(word: str) -> str:
    """Plural and singular are one."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
