"""The word lists behind `specifics`: what may differ between two texts that say the same, in five languages.

A word is in a list only if what the list does is right for nearly every reading of it and leaves no fact out. Word
forms are listed as they are written, since stemming takes tenses for each other. No code that reads a text lives here.
"""

from __future__ import annotations


def _words(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


def _readings(lines: str) -> dict[str, str]:
    """Return {word: reading} of items like `begins=starts`."""
    return dict(item.split("=") for item in lines.split())


def _phrases(lines: str) -> dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    """Return {first word: ((phrase, reading), ...)} of lines like `in charge of = responsible for`, longest first."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        phrase, _, reading = line.partition(" =")
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, tuple(reading.split())))
    return {first: tuple(sorted(items, key=lambda item: -len(item[0]))) for first, items in found.items()}


# --- Which language a text is read in ---

GERMAN = _words(
    """
    der die das und ist nicht ein eine einen einem einer auf für von zu zum zur dem sind wird wurde haben ich wir er sie
    ihr auch noch kein keine keinen bei nach wie immer nie beim vom seit heißt muss hat mit im am den haben jeden jede
    sein seine seinen werden wurden kann soll bitte dauert dauern kostet benutzen nutzen verwenden antworte antwortet
    """
)
SPANISH = _words(
    """
    el la los las un una del por que y en es con sin su sus usuario usuaria no se está están al hay tiene para muy más
    antes después siempre nunca de lo ya usamos utilizamos
    """
)


# --- Numbers, dates, times ---

_ENGLISH_NUMBERS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_ENGLISH_NUMBERS += " eighteen nineteen twenty"
_GERMAN_NUMBERS = (
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
)
_GERMAN_NUMBERS += " achtzehn neunzehn zwanzig"
_SPANISH_NUMBERS = (
    "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
)
_SPANISH_NUMBERS += " dieciocho diecinueve veinte"


def _counted(names: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


_TENS = {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90"}
NUMBERS = {
    "en": {word: str(number) for word, number in _counted(_ENGLISH_NUMBERS, 2).items()} | _TENS,
    "de": {word: str(number) for word, number in _counted(_GERMAN_NUMBERS, 2).items()} | {"dreißig": "30"},
    "es": {word: str(number) for word, number in _counted(_SPANISH_NUMBERS, 2).items()} | {"treinta": "30"},
}

MONTHS = {
    "en": _counted("january february march april may june july august september october november december", 1),
    "de": _counted("januar februar märz april mai juni juli august september oktober november dezember", 1),
    "es": _counted("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", 1),
}
SHORT_MONTHS = _counted("jan feb mar apr may jun jul aug sep oct nov dec", 1) | {"sept": 9}

WEEKDAYS = {
    "en": _counted("monday tuesday wednesday thursday friday saturday sunday", 1),
    "de": _counted("montag dienstag mittwoch donnerstag freitag samstag sonntag", 1) | {"sonnabend": 6},
    "es": _counted("lunes martes miércoles jueves viernes sábado domingo", 1),
}
# One form says one day, the other says each: `on Friday` is a date, and `on Fridays` is a habit.
EVERY_WEEKDAY = {
    "en": {name + "s": number for name, number in WEEKDAYS["en"].items()},
    "de": {name + "s": number for name, number in WEEKDAYS["de"].items()},
    "es": {"sábados": 6, "domingos": 7},
}

CURRENCIES = _readings(
    "dollar=$ dollars=$ usd=$ euro=€ euros=€ eur=€ pound=£ pounds=£ gbp=£ yen=¥ jpy=¥ dólares=$ dólar=$ libras=£"
)
UNITS_OF_TIME = _words("second minute hour day night week month quarter year morning evening afternoon")
"""What `a` or `per` may stand before: `5 km a week`."""


# --- English ---

PHRASES_EN = _phrases(
    """
    in charge of = responsible for
    at the moment = now
    right now = now
    at present = now
    at this time = now
    prior to = before
    in order to = to
    has to = must
    have to = must
    needs to = must
    need to = must
    is able to = can
    are able to = can
    am able to = can
    is not able to = cannot
    are not able to = cannot
    am not able to = cannot
    would like to = would-like to
    want to = would-like to
    wants to = would-like to
    is going to = will
    are going to = will
    is located in = is in
    are located in = are in
    is situated in = is in
    saved in = stored in
    kept in = stored in
    saved to = stored in
    on a daily basis = every day
    on a weekly basis = every week
    every single = every
    in the event that = if
    lots of = many
    a lot of = many
    due to = because of
    is due to = is due to
    are due to = are due to
    was due to = was due to
    owing to = because of
    as well as = and
    rather than = instead of
    in place of = instead of
    all of the = all the
    both of the = both
    is named = is called
    was named = was called
    as of now = now
    these days = now
    nowadays = now
    """
)

# What must not be read so after a negation: `does not have to` is not `must not`.
NOT_AFTER_NEGATION = _words("has have needs need a in")

READINGS_EN = _readings(
    """
    begin=start begins=starts began=started begun=started beginning=starting commence=start commences=starts
    commenced=started reside=live resides=lives resided=lived residing=living
    purchased=bought require=need requires=needs required=needed
    roughly=about approximately=about circa=about ca=about
    currently=now presently=now reply=answer replies=answers replied=answered respond=answer responds=answers
    responded=answered enjoy=like enjoys=likes enjoyed=liked large=big larger=bigger largest=biggest
    postponed=delayed postpone=delay postpones=delays depart=leave departs=leaves departed=left
    frequently=often nobody=no-one everybody=everyone somebody=someone anybody=anyone favourite=favorite
     usually=normally typically=normally permit=allow permits=allows permitted=allowed
    upon=on via=through thru=through till=until
    """
)

# Said for good manners, or to lead in to what is said; right at the start, with or without a comma.
OPENERS_EN = _phrases(
    """
    actually =
    basically =
    by the way =
    btw =
    in general =
    for the record =
    to be clear =
    just so you know =
    as a reminder =
    reminder : =
    note that =
    note : =
    remember that =
    do not forget that =
    please note that =
    so , =
    well , =
    ok , =
    also , =
    be sure to =
    make sure to =
    remember to =
    do not forget to =
    as mentioned =
    in short =
    """
)
LIGHT_EN = _words("also already")
"""Words that may go wherever they stand: they say how a fact is told, not what it is."""

# `the` before these makes another thing of them: `last week`, `the last week`; `few`, `the few`.
AFTER_THE = _words(
    "last next first few one other others only same most more less best worst number rest past second third whole who"
)
BE = _words("is are am was were be been being")
BE_PRESENT = _words("is are am")
BE_PAST = _words("was were")
GETS = _readings("gets=is get=are got=was")

# The progressive of these says no more than the present: `is using`. Of `smoking` or `drinking` it may say today.
LASTING = _words(
    """
    using living working running listening hosting storing relying depending supporting needing serving containing
    seeming lacking belonging owning residing hoping wanting planning looking pointing
    """
)
# Forms in -s of verbs whose progressive or passive may stand for them.
VERBS_IN_S = _words(
    """
    accepts adds allows answers appears applies approves arrives asks attends avoids backs becomes begins believes
    belongs blocks books breaks brings builds bumps buys calls carries causes changes charges checks chooses cleans
    closes collects comes commits compiles computes connects consists contains controls converts copies costs covers
    crashes creates cuts deletes delivers depends deploys describes designs dislikes does downloads drinks drives eats
    emits employs enables ends enjoys exists expects expires exports fails fetches finds finishes fits fixes flies
    follows forbids forgets gets gives goes grows handles happens has hates helps hires holds hosts imports includes
    ingests installs invites joins keeps knows lacks lasts leads learns leaves lets lies likes links listens lives loads
    locks logs looks loses loves maintains makes manages marries means measures meets mentors merges migrates monitors
    moves needs notifies offers opens owes owns parses passes pays performs plans plays points polls prefers prevents
    prints processes produces provides publishes pulls pushes puts queries reads rebuilds receives recommends reduces
    refuses rejects releases relies reloads remembers renders replaces replies reports requires resets resides
    restarts retries returns reviews rises rotates runs saves says schedules seems sees sells sends serves sets shares
    shows signs sits skips sleeps smokes solves speaks spends stands starts stays stops stores studies supports syncs
    takes teaches tells tests thinks throws tracks trains travels tries triggers turns updates uploads uses validates
    visits waits walks wants watches wears weighs wins works writes
    """
)
# What can open a phrase that may stand at either end of a sentence.
MARKERS = {
    "en": _words(
        """
        on in at during after before since until from to for with without within if when while because although unless
        once whenever every last next today tomorrow yesterday tonight now normally through per
        """
    ),
    "de": _words(
        """
        am im in an um bei für seit nach vor ab bis zum zur mit ohne jeden jede jedes heute morgen gestern jetzt immer
        normalerweise oft wegen während auf
        """
    ),
    "es": _words(
        """
        en a desde hasta durante para con sin por antes después el los cada hoy mañana ayer ahora normalmente cuando si
        a-menudo
        """
    ),
}
# Phrases that open with these move only if they speak of a time.
MARKERS_OF_TIME = _words("every last next el los cada jeden jede jedes")
TIMES = _words(
    """
    second minute hour day days night nights week weeks month months quarter year years morning mornings evening
    evenings afternoon afternoons noon midnight today tomorrow yesterday tonight now summer winter spring autumn weekend
    weekends
    heute morgen gestern jetzt nacht tag woche monat jahr abend mittag sommer winter frühling herbst wochenende
    nachmittag
    hoy mañana ayer ahora noche noches día días semana semanas mes año verano invierno primavera otoño tarde tardes
    """
)
# A time after one of these may be its own: the meeting on Friday was not cancelled on Friday.
EVENTS = _words(
    """
    meeting meetings call calls flight flights appointment appointments standup review demo lunch dinner party session
    class workshop interview release deploy deployment training trip event train concert exam lecture talk visit
    reservation booking ticket tickets order invoice report shift game match festival conference holiday reminder plan
    termin termine besprechung meeting flug treffen anruf vorlesung prüfung konzert reise bericht feier
    reunión cita vuelo llamada clase examen fiesta viaje concierto informe reserva evento
    """
)
# What a passive may not be turned over between: every server has an admin, an admin has every server.
QUANTIFIERS = _words("every all each some a an one many most few several any both no 2 3 4 5 two three four five")
# With one of these a sentence holds more than one clause, and where a phrase stands says which clause it belongs to.
BINDERS = _words(
    """
    that which who whom whose and or but if when while because although unless whether than then so as
    told tell tells ask asks asked say says said promise promised promises plan plans planned want wants wanted decide
    decided agree agreed remind reminded hope hopes think thinks thought know knows believe believes expect expects
    not no never only even just without cannot nobody nothing neither nor
    dass weil wenn ob und oder aber als sagt sagte bat will wollte nicht kein keine keinen nie niemals nur
    que si porque cuando y o pero dijo dice quiere pidió no nunca solo sólo tampoco
    """
)
# Of these, those that say no clause of their own but change what a phrase near them says.
NOT_MOVED = _words("not no never only even just cannot neither nor nicht kein keine keinen nie nur no nunca solo sólo")

MOVING_ADVERBS = _words("often normally now mostly automatically quickly slowly regularly manually recently oft jetzt")
MOVING_ADVERBS |= _words("normalmente ahora silently safely securely immediately locally remotely properly carefully")

NOT_OWNED = _words("number rest most end top part half majority kind sort type lot couple bottom side one some all")
"""Nouns before `of` that no possessive stands for: the end of the file is not `the file's end` to all."""


# --- German ---

PHRASES_DE = _phrases(
    """
    zur Zeit = jetzt
    im Moment = jetzt
    in der Regel = normalerweise
    und zwar =
    in etwa = etwa
    """
)
READINGS_DE = _readings(
    """
    derzeit=jetzt aktuell=jetzt momentan=jetzt zurzeit=jetzt gegenwärtig=jetzt
    ungefähr=etwa circa=etwa ca=etwa zirka=etwa
    benutzen=nutzen verwenden=nutzen benutzt=nutzt verwendet=nutzt benutze=nutze verwende=nutze
    startet=beginnt starten=beginnen häufig=oft gewöhnlich=normalerweise üblicherweise=normalerweise
    Mail=E-Mail Mails=E-Mails mails=E-Mails mail=E-Mail stets=immer Samstag=Sonnabend
    """
)
LIGHT_DE = _words("bitte übrigens")
ARTICLES_DE = _words("die das")
CHANCE_ARTICLES_DE = _words("der den")
"""Articles that tell who does what to whom: they count in the order alone, so that no bag hides a dative."""


# --- Spanish ---

PHRASES_ES = _phrases(
    """
    por favor =
    a menudo = a-menudo
    con frecuencia = a-menudo
    en este momento = ahora
    por lo general = normalmente
    tiene que = debe
    tienen que = deben
    tengo que = debo
    tenemos que = debemos
    """
)
READINGS_ES = _readings(
    """
    actualmente=ahora frecuentemente=a-menudo habitualmente=normalmente
    comienza=empieza comienzan=empiezan comenzó=empezó utilizamos=usamos utiliza=usa utilizan=usan utilizo=uso
    utilizar=usar aproximadamente=unos
    """
)
LIGHT_ES = _words("también")


# --- Chinese and Japanese ---

HAN_READINGS = (
    ("星期天", "周日"), ("星期日", "周日"), ("星期", "周"), ("礼拜", "周"),
    ("目前", "现在"), ("当前", "现在"), ("如今", "现在"),
    ("大概", "大约"), ("差不多", "大约"), ("约莫", "大约"),
    ("始终", "总是"), ("使用", "用"), ("采用", "用"),
    ("这位用户", "用户"), ("该用户", "用户"), ("在用", "用"),
    ("数据库的", "数据库"), ("用户的", "用户"), ("服务器的", "服务器"), ("项目的", "项目"), ("团队的", "团队"),
    ("系统的", "系统"), ("公司的", "公司"),
)  # fmt: skip
KANA_READINGS = (
    ("常に", "いつも"), ("およそ", "約"), ("だいたい", "約"), ("おおよそ", "約"), ("毎晩に", "毎晩"),
    ("でしょう", "だろう"), ("現在は", "今は"),
)  # fmt: skip
HAN_TIMES = ("今天", "明天", "昨天", "后天", "现在", "每天晚上", "每天早上", "每天", "每周", "每月", "今年", "明年")
KANA_TIMES = ("毎日", "毎晩", "毎朝", "毎週", "毎月", "今日", "明日", "昨日", "今", "いつも", "来週", "先週")
# A polite form's last syllable before the ending, in the plain form and before a negation.
KANA_ROWS = dict(zip("いきぎしちにびみり", "うくぐすつぬぶむる", strict=True))
KANA_NEGATED = dict(zip("いきぎしちにびみり", "わかがさたなばまら", strict=True))
