"""The classes of words of English by which `paraphrase` takes a sentence apart; lists alone, no code that reads a text.

What is in no list is content, and counts. So a list that lacks a word parts texts that are one, and joins none.
"""

from __future__ import annotations

from memtape.state.fold.synonyms import concept
from memtape.state.text import lexicon


def _readings(lines: str) -> dict[str, str]:
    """Return {word: reading} of items like `into=to`."""
    return dict(item.split("=") for item in lines.split())


Phrases = dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]


def phrases(lines: str) -> Phrases:
    """Return {first word: ((phrase, reading), ...)} of lines like `in the event that = if`, longest first."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        phrase, _, reading = line.partition(" =")
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, tuple(reading.split())))
    return {first: tuple(sorted(items, key=lambda item: -len(item[0]))) for first, items in found.items()}


PHRASES = phrases(
    """
    at the moment = currently
    right now = currently
    at present = currently
    prior to = before
    is set to = is
    are set to = are
    is located = is
    are located = are
    is situated = is
    are situated = are
    is called by = is called by
    are called by = are called by
    is called = is
    are called = are
    is named = is
    are named = are
    ask for = request
    asks for = requests
    asked for = requested
    works for = works at
    work for = work at
    working for = working at
    because of the fact that = because
    at all times = always
    in addition = also
    on top of that = also
    is due on = is due
    is due by = is due
    has an allergy to = is allergic to
    has a preference for = prefers
    is in favor of = prefers
    is fond of = likes
    is keen on = likes
    is a fan of = likes
    has access to = can access
    is unable to = cannot
    are unable to = cannot
    every single = every
    wants to = want to
    would like to = want to
    would like = want
    on a daily basis = every day
    on a weekly basis = every week
    once a day = every day
    once per day = every day
    once a week = every week
    once per week = every week
    once a month = every month
    in the event that = if
    in case = if
    as long as = if
    rather than = instead of
    all of the = all the
    both of the = both the
    no one = nobody
    very much = a lot
    in charge of = responsible for
    in order to = to
    so as to = to
    each other = each-other
    one another = each-other
    as soon as = when
    make sure that = ensure
    make sure to = ensure
    make sure = ensure
    be sure to = ensure
    take care to = ensure
    a minimum of = at-least
    at least = at-least
    no fewer than = at-least
    no less than = at-least
    at most = at-most
    a maximum of = at-most
    no more than = at-most
    up to = at-most
    as well as = as-well-as
    as well =
    switched off = disabled
    turned off = disabled
    switched on = enabled
    turned on = enabled
    switch off = disable
    turn off = disable
    switch on = enable
    turn on = enable
    set up = setup
    look after = maintain
    looks after = maintains
    looked after = maintained
    rolled out = deployed
    roll out = deploy
    pick up = pick-up
    put off = postpone
    carried out = performed
    takes place =
    take place =
    take care of = handle
    takes care of = handles
    got rid of = removed
    get rid of = remove
    a large number of = many
    lots of = many
    a lot of = many
    plenty of = many
    for instance = e.g.
    for example = e.g.
    with the help of = with
    by means of = with
    is allowed to = may
    are allowed to = may
    do not forget to = ensure
    never forget to = ensure
    """
)

ENGLISH = lexicon.ENGLISH | lexicon.word_set("at by on my me happen happens day week month year may")
"""With none of these a text is not taken for English, and nothing in it stands for anything else."""
HARMLESS = lexicon.word_set(
    "the a an we our us you is are am be been being do does really very its happen happens occur occurs then get gets"
)
"""Without these a text says the same, in `paraphrase`, which knows of tenses and of who is meant by other words."""
CLOSERS = lexicon.word_set(
    "the a an we you i he she they it this these those my your our his her their its user all every each"
)
"""What opens another part of the sentence, and so ends the phrase before."""
ROLES = _readings(
    """
    in=at on=at at=at inside=at within=at to=to into=to onto=to from=from for=for with=with via=through through=through
    by=by of=of about=about regarding=about concerning=about before=before after=after until=until till=until
    since=since during=during between=between among=between against=against without=without over=over under=under
    below=under above=over behind=behind near=near per=per as=as like=like off=off out=out up=up down=down across=across
    except=except besides=besides toward=toward towards=toward upon=at than=than along=along instead=instead
    """
)
"""What says how a phrase belongs to the rest, each in one form; the rest of a phrase may stand elsewhere."""
SUBORDINATES = _readings(
    """
    if=if when=when whenever=when unless=unless while=while whereas=while because=because although=although
    though=although so=so that=that which=which who=who whom=who whose=whose where=where why=why how=how whether=whether
    once=once what=what
    """
)
"""What opens a clause of its own, of which all words stay in their order."""
FRONTED = lexicon.word_set("with without from by of as about to")
PLACES = lexicon.word_set("at behind near under over between above across")
"""Phrases that say something else in front, unless they are set off there."""
"""Phrases that say something else in front: `without headers the linter rejects files`."""
BINDERS = _readings(
    """
    not=not never=never no=no neither=neither nor=nor cannot=cannot only=only
    even=even hardly=hardly barely=hardly rarely=rarely seldom=rarely all=every every=every each=every some=some any=any
    many=many few=few several=several most=most both=both half=half more=more less=less fewer=less another=another
    other=other either=either and=and or=or but=but must=must should=should may=may might=might can=can could=could
    would=would will=will shall=will ought=should approximately=approximately roughly=approximately
    around=approximately at-least=at-least at-most=at-most almost=almost nearly=almost still=still yet=yet again=again
    already=already just=only also=also too=also ever=ever enough=enough least=least first=first last=last next=next
    same=same has=has have=has had=had was=was were=was did=did
    """
)
"""What holds of the word that follows and must stand before it on both sides: negations, quantifiers, modal verbs."""
NEGATIONS = lexicon.word_set("not never no none nobody nothing neither nor cannot without hardly rarely")
QUANTITIES = lexicon.word_set(
    "every all each some many few most several any both half none one only no or and everyone anyone"
)
BE = lexicon.word_set("is are am was were be been being get gets")
PAST = lexicon.word_set("was were had did")
IRREGULAR_PAST = lexicon.word_set(
    """
    began bit blew bought broke brought built came caught chose drank drew drove ate fell fed felt fought found flew
    forgot gave went got grew heard held hid kept knew laid led left lent lost made meant met paid ran rang rode rose
    said sang sat saw sent shot showed slept sold spoke spent stole stood struck swam taught thought threw told took
    tore understood woke won wore wrote became rebuilt rewrote froze
    """
)
PARTICIPLES = lexicon.word_set(
    """
    written rewritten built rebuilt made sent chosen taught driven taken bought sold kept held stored paid done given
    shown known found lost led met read run set put cut hit split shut spent sung spoken stolen worn hidden frozen drawn
    """
)
NO_PASSIVE = lexicon.word_set(
    "called named born due used-to married based supposed interested tired allowed located scheduled"
)
LASTING = lexicon.word_set(
    "using listening running working serving pointing returning sending relying depending containing belonging owning"
    " maintaining hosting storing keeping living"
)
"""Verbs whose progressive says no more than the present, unless a time is said."""
PLANNING = frozenset(
    map(
        concept,
        """
        schedule plan announce cancel postpone delay move need want expect promise order request tell ask say think book
        discuss mention hope intend decide forget remember propose suggest claim believe know hate like love
        """.split(),
    )
)
"""Of these a time may be what is planned or read of, and not when that is done: it stays where it stands."""
ASKING = frozenset(
    map(concept, "ask check note report see know tell say find verify confirm decide remember test".split())
)
"""Of these a condition may be what is asked: `ask Tom if the build fails`."""
TEMPORAL = lexicon.word_set("until since during while when now currently before after by today tomorrow this next last")
UNSURE = lexicon.word_set("some someone somebody one any many")
"""With one of these it counts whether `every night` stands before or behind."""
RECURRING = lexicon.word_set("day night week month year hour minute morning evening afternoon weekend quarter sprint")
DAILY = {"daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "yearly": "year", "hourly": "hour"}
PARTS_OF_DAY = (["morning"], ["evening"], ["afternoon"], ["night"])
SEASONS = lexicon.word_set("summer winter spring autumn")
ADVERBS = lexicon.word_set(
    "directly straight currently now often frequently usually automatically immediately today tomorrow yesterday "
    "tonight"
)
"""Adverbs that may stand at either end of a sentence, or beside its verb."""
VERB_WORDS = lexicon.word_set(
    """
    use need run work live keep store save send take make get give go come read write call open close start stop
    restart deploy build test check fix delete remove add create update change move set put ask answer reply respond
    tell say think know like love hate prefer want eat drink play drive walk travel fly sleep buy sell pay cost own
    manage maintain handle review approve reject sign join leave meet visit help support host serve listen depend
    require allow block log cache queue retry fail pass expire end begin finish complete wait rotate back merge
    push pull commit release ship plan schedule postpone cancel book use show display print return throw raise lower
    reduce increase connect link load fetch download upload install configure enable disable monitor watch track
    learn teach study speak report lead hold contain include belong stay remain become turn switch reset clear clean
    drop purge archive backup restore sync copy rename replace convert parse render compile lint format validate
    verify ensure avoid follow consume produce publish subscribe encrypt decrypt scan crash reboot measure notify
    """
)
VERBS = frozenset(map(concept, sorted(VERB_WORDS)))
"""Verbs that are common in such texts."""
ATTRIBUTES = lexicon.word_set(
    """
    port name owner version address size color deadline status price budget title email number url limit timeout
    location password branch region maintainer lead manager birthday capital wife husband son daughter brother sister
    mother father partner boss cost salary rate interval length capacity version default format language type
    """
)
"""What something has one of, so that `the port of the API`, `the API's port` and `the API port` are one."""
TO_THE_LETTER = lexicon.word_set(
    """
    called named name names title titled nickname label labelled labeled password passwords passphrase passcode secret
    secrets username login hostname alias aliases enum constant press presses click clicks type types keyword keywords
    spelled spelling says reads
    """
)
TELLING = lexicon.word_set("is are called named says reads press presses click clicks type types =")
"""In a text with one of the first a word may be what is typed or shown; behind one of these it stands for no other."""
