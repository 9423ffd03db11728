"""The words behind `stating`: verbs and prepositions by which a clause says where, with what, or by whom something is.

English. Verbs stand as their stems, since a clause has them in any form. No code that reads a text lives here.
"""

from __future__ import annotations


def _families(lines: str) -> dict[str, tuple[str, ...]]:
    """Return {word: families} of lines like `family: word word`."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines.strip().splitlines():
        family, _, words = line.partition(":")
        for word in words.split():
            found[word] = (*found.get(word, ()), family.strip())
    return found


VERBS = _families(
    """
    place: sit live lie lay stand stay hang host self-host deploy locat store keep base place put hold park save mount
    place: happen gather
    make: generat build make creat produc render compil bundl packag
    source: buy come order get suppli deliv purchas fetch obtain rent pull sourc
    do: do run go manag handl power drive
    act: write draw sketch design style book instal authent process bill pay track monitor test lint format schedul
    act: insur log deploy releas publish send hold host back cach index search measur translat plan cook clean secur
    act: chat edit cover print record
    send: go ship send flow report forward push
    set: set rais lower increas decreas reduc cut bump shorten extend limit cap stand go
    move: move switch migrat chang revert return reloc convert transfer shift upgrad downgrad escal promot go
    swap: swap replac exchang trade
    """
)
"""Stems of verbs by what they say of their subject, or of the object of who speaks."""
PREPOSITIONS = _families(
    """
    at: in on at under behind above inside beside
    with: with through via using over
    by: by
    from: from of
    to: to into onto
    for: for
    """
)
RELATIONS = {
    ("be", "at"): "p", ("be", "with"): "p", ("be", "from"): "s",
    ("place", "at"): "p", ("place", "with"): "pm",
    ("make", "at"): "m", ("make", "with"): "m", ("make", "from"): "m",
    ("source", "from"): "s", ("source", "at"): "s", ("source", "with"): "s",
    ("do", "with"): "m", ("do", "at"): "r", ("do", "from"): "m", ("act", "with"): "m", ("act", "at"): "r",
    ("make", "by"): "b", ("source", "by"): "b", ("do", "by"): "b", ("act", "by"): "b", ("place", "by"): "b",
    ("send", "to"): "d", ("send", "with"): "m", ("set", "to"): "v", ("set", "at"): "v",
    ("move", "to"): "*", ("swap", "for"): "*",
}  # fmt: skip
"""What a verb and a preposition say: a place (p), means (m), a source (s), by whom (b), where something goes (d),
on what it runs (r), a measure (v), or any of these anew (*). A number of things that something has is `n`."""
LIKE = {"p": "p", "m": "ms", "s": "msb", "b": "sb", "v": "v"}
"""Which letters say the same; a program may run on one thing and on another."""
NOTE = "pmsdrvb"
"""What a note may say of its subject."""
BE = frozenset("is are get gets got be been being was were".split())
ADVERBS = frozenset(
    "now currently nowadays still always only just back all both out over up down today mainly mostly usually finally"
    " again directly straight newly permanently officially nightly weekly daily monthly together".split()
)
BEFORE_VERBS = ADVERBS | BE | frozenset("has have will had 've must should".split())
BEFORE_OBJECTS = frozenset("have will must should 've please also now always just currently from".split())
PRONOUNS = frozenset("i we you they people everybody everyone".split())
NO_VALUES = frozenset(
    "use english production staging maintenance development testing beta preview review progress charge fact time"
    " order general person touch line need hand hold fire sale vacation holiday call"
    " track average demand trouble love a an here there it them this that him her me us all the which what fun addition"
    " case particular hurry danger my your our their his its front place everything everybody something".split()
)
"""What is no value though it stands behind a preposition, as in `in use`; an article alone is none either."""
VALUE_ENDS = frozenset(
    "in on at under with by through via using from to into for because as when if until where that which who per every"
    " since while instead so but before after during and or not over is are was were will has have yesterday today"
    " tomorrow tonight now".split()
)
LABELS = frozenset(
    "plan todo idea note notes fact decision decided goal question answer example tip warning fixed done update fyi"
    " reminder remember monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday task error"
    " step summary result output input rule problem solution issue new next first second also edit ps".split()
)
"""Labels that say what kind of text follows, and nothing of which it is the value."""
ROLES = {
    word: family.replace("=", ":")
    for word, (family, *_) in _families(
        """
        a=own: own owner maintain admin administ administr manag look charg respons oversee overse
        a=lead: lead leader head chair captain
        a=teach: teach teacher tutor instruct instructor coach train trainer
        a=edit: edit editor
        a=feed: feed
        a=clean: clean cleaner
        s: suppli supplier deliv provid provider
        a=host: host
        a=organise: organ coordin
        a=supervise: supervis supervisor
        a=insure: insur insurer
        a=moderate: moder
        a=direct: direct director
        """
    ).items()
}
"""Stems of what one does for something, mostly one at a time; a noun of it says the same."""
TONGUES = frozenset(
    "english german french spanish italian dutch portuguese russian chinese japanese python go rust java typescript"
    " javascript ruby php kotlin swift scala c c++ csv json xml yaml pdf word excel latex markdown html".split()
)
"""In what something may be written, which is no place."""
