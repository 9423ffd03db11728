"""The words behind `replacing`: slots that hold one value at a time, by what they are told, and what says a change.

English only. A word stands here only where it says the same of most things: what is in doubt stays out. No code that
reads a text lives here.
"""

from __future__ import annotations

from typing import NamedTuple

_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"  # noqa: E501
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|sixty|ninety"
_COUNT = rf"(?:\d[\d,.]*|{_NUMBER})"
_SPAN = r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|wks?|months?|years?|yrs?)"
_WORD = r"[A-Z][\w'’&.-]*"

VALUES: dict[str, str] = {
    "port": r"(?<![\w.:/-])(?:[\w.-]*[A-Za-z][\w.-]*:|:)?\d{2,5}(?![\w/%-]|[.,]\d|\s*(?:%|percent|euros?|dollars?))",
    "version": r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-.]?(?:rc|beta|alpha|b)\d*)?(?![\w%])"
    r"|(?<=\bversion )\d+(?![\w.]*\w)|(?<=[a-z] )(?:1\d|2\d|[4-9])(?= LTS\b)",
    "clock": r"(?<![\w.:])(?:\d{1,2}[:.]\d\d(?:\s*[ap]\.?m\b)?|\d{1,2}\s*[ap]\.?m\b|(?<=\bat )\d{1,2}(?:\s+o['’]clock)?"
    r"(?![\w:.,%]|\s*[A-Za-z]{3})|(?:half|quarter) past \w+|quarter to \w+|noon|midday|midnight)(?![:\d])",
    "weekday": rf"\b{_WEEKDAY}\b(?:\s+(?:and|to)\s+{_WEEKDAY})?",
    "date": rf"\b\d{{4}}-\d\d-\d\d\b|\b(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b(?:,?\s+\d{{4}})?"
    rf"|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
    rf"|\b(?:(?:early|mid|late|end of|beginning of|start of)[ -])?(?:january|february|march|april|june|july|august"
    r"|september|october|november|december)\b(?:\s+\d{4})?"
    rf"|\b(?:next\s+|this\s+)?{_WEEKDAY}\b|\bQ[1-4]\b(?:\s+\d{{4}})?|\bthe \d{{1,2}}(?:st|nd|rd|th)\b",
    "money": r"(?:[$€£¥]|\b(?:EUR|USD|GBP|CHF)\s?)\s?\d[\d,.]*(?:\s?[kKmM]\b)?"
    r"|\b\d[\d,.]*\s?(?:[kK]\s?)?(?:[$€£¥]|euros?\b|dollars?\b|pounds?\b|francs?\b|EUR\b|USD\b|GBP\b|CHF\b|cents?\b)",
    "percent": r"\b\d+(?:\.\d+)?\s?(?:%|percent\b|per cent\b)",
    "duration": rf"(?<![\w.])(?:an?[\s-](?=\w{{3}})|{_COUNT}[\s-]?(?:and a half[\s-])?){_SPAN}\b",
    "size": r"(?<![\w.])\d[\d,.]*\s?(?:[kmgt]i?b?|bytes?|rows|lines|px|pixels|points?|chars|characters|requests?"
    r"|rps|qps"
    r"|items?|users?|people|seats?|pages?|words?|megabytes?|gigabytes?|km|m|cm|kg|g|l|litres?|degrees|°C)\b",
    "frequency": rf"\b(?:every\s+(?:other\s+)?(?:\d+\s+|{_COUNT}\s+)?(?:{_SPAN}|{_WEEKDAY}|morning|evening|night"
    rf"|quarter"
    r"|weekday|fortnight)\b|(?:once|twice|(?:\w+) times)\s+(?:a|an|per|every)\s+\w+|daily|weekly|monthly|nightly|hourly"
    r"|yearly|quarterly|biweekly|fortnightly)",
    "when": rf"\b{_WEEKDAY}\b(?:(?:,| at| from)?\s+\d{{1,2}}[:.]?\d*(?:\s*[ap]m)?\b)?"
    rf"|\b\d{{1,2}}:\d\d(?: on {_WEEKDAY})?\b",
    "phone": r"(?<![\w.])\+?\d[\d\s()-]{2,18}\d(?![\w.:])",
    "email": r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "url": r"\b(?:https?://[^\s,;]+|(?:[a-z\d-]+\.)+(?:com|org|net|io|dev|local|internal|app|example|test|de|uk|eu|lan"
    r"|corp|cloud|co|ai)(?:\.[a-z]{2})?\b(?:/[^\s,;]*)?)",
    "slug": r"(?<![\w/])(?:[\w.]+[/-])+[\w.]*\w|`[^`]+`|\b(?:main|master|trunk|develop)\b",
    "number": rf"(?<![\w.:/-])(?:\d[\d,.]*\d|\d+)(?![\w%:/-])|\b(?:{_NUMBER})\b",
    "state": r"\b(?:(?:in (?:review|progress|staging|production|testing|qa)|under (?:review|investigation)|on hold"
    r"|to ?do"
    r"|(?:re)?open(?:ed)?|closed|merged|deployed|done|finished|completed?|blocked|unblocked|pending|approved|rejected"
    r"|accepted|declined|fixed|resolved|unresolved|failing|failed|passing|passed|green|red|released|shipped|cancell?ed"
    r"|active|inactive|paused|stalled|queued|waiting|signed|unsigned|paid|unpaid|sent|draft(?:ed)?|published|scheduled"
    r"|confirmed|online|offline|down|up|broken|working|enabled|disabled|occupied|vacant|full|empty|archived|abandoned"
    r"|in (?:transit|backlog)|delivered|delayed|started|not started|(?:on|off)(?=\s*\Z))(?: and |\b)){1,2}(?<! and )",
    "name": rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?{_WORD}(?:\s+(?:(?:van|von|de|der|of|la)\s+)*{_WORD}){{0,3}}",
}
"""What a value of each class looks like. Classes that stand in no `FREE` are told from their looks alone."""
FREE = ("name", "any")
"""Classes that any words may be of: their values stand where a frame has them, and nowhere else."""


class Slot(NamedTuple):
    """A slot that holds one value at a time: nouns that name it, verbs before and behind which its value stands.

    `keyed` slots are as many as their nouns: somebody's dentist is not their doctor.
    """

    name: str
    values: tuple[str, ...]
    nouns: str = ""
    verbs: str = ""
    owners: str = ""
    keyed: bool = False


_DUE = r"(?:in|submitted|delivered|finished|done|sent|filed|ready|paid|handed in|turned in|completed|returned|complete)"

SLOTS = (
    Slot("port", ("port",), r"port", r"listens? (?:on|at)|listening on|reach(?:ed|able)?\b([^.;]{0,40}?) (?:at|on"
         r"|under)"
         r"|(?:served|answers?|exposed|available|bound|binds?|runs?|is|are|mapped|sits?) (?:on|at|to|from)"),
    Slot("version", ("version",), r"version", r"runs?|running|(?:are|is) (?:on|at|now)|uses?|using|pinned (?:to|at)"
         r"|upgraded to|ships with|builds? (?:on|with|against)|live|reports?|deployed|installed"),
    Slot("owner", ("name",), r"owner|maintainer|contact(?: person)?|point of contact|person in charge",
         r"(?:owned|maintained|looked after|run|managed|handled) by|belongs to|(?:is|are) with",
         r"owns(?! an?\b)|maintains|looks after|(?:is|am) (?:responsible for|in charge of)|takes care of"
         r"|(?:has )?t(?:ook|akes|aken) over"),
    Slot("lead", ("name",), r"lead|leader|head", r"(?:led|headed|chaired) by", r"leads|heads(?: up)?|chairs"),
    Slot("on call", ("name",), r"on[- ]call(?: engineer| person)?|pager", r"pager (?:is|goes|lies) (?:with|to)",
         r"(?:is|am) on[- ]call|(?:has|holds|carries|takes) the pager"),
    Slot("manager", ("name",), r"manager|boss|supervisor|line manager", r"reports? to|reporting to|managed by"),
    Slot("role", ("name",),
         r"ceo|cto|cfo|coo|ciso|director|president|editor|chair(?:man|woman|person)?|treasurer|secretary|dentist"
         r"|doctor|gp|physician|therapist|physio(?:therapist)?|accountant|tax advis[eo]r|lawyer|solicitor|notary"
         r"|landlord"
         r"|landlady|tutor|coach|trainer|plumber|electrician|hairdresser|barber|vet|nanny|childminder|cleaner"
         r"|(?:product|project|account|release|office|store|team|incident) manager|mentor|scrum master|sponsor|supplier"
         r"|provider|vendor|caterer|carrier|courier|insurer|bank|broker|registrar|isp|girlfriend|boyfriend|wife|husband"
         r"|spouse|fianc[eé]e?|captain|principal|mayor|auditor|architect|approver|tenant|head coach|publisher|agent"
         r"|translator|pediatrician|optician|mechanic|gardener|postdoc|superintendent|head of [a-z]+|chief of [a-z]+"
         r"|chief [a-z]+ officer",
         keyed=True),
    Slot("deadline", ("date", "weekday"), r"deadline|due date|cut-?off(?: date)?|closing date|submission date",
         rf"(?:is|are|am) due(?: (?:on|by))?|due|(?:must|has to|have to|needs? to|should) be {_DUE}(?: (?:on|by"
         rf"|before|until))?"),
    Slot("launch", ("date", "weekday"), r"(?:launch|release|go-live|ship(?:ping)?|delivery) ?(?:date|day)?",
         r"launch(?:es)?|ships?|goes live|(?:will be|is|are) (?:released|launched|shipped|delivered)"),
    Slot("expiry", ("date",), r"expiry(?: date)?|renewal(?: date)?",
         r"expires?|runs? out|valid until|is (?:up for renewal|renewed)"),
    Slot("day of", ("date", "weekday"), r"(?:exam|wedding|move|moving|meeting|appointment|event|party"
         r"|trip) (?:date|day)",
         r"(?:is|are|was|will be)(?: (?:held|scheduled|planned|set|booked|for|on|now|moved|rescheduled|to))+"
         r"|(?:is|are) for|takes place(?: on)?|happens on|meets on|falls on|(?:scheduled|planned|booked|set"
         r"|rescheduled) for|is the day (?:of|for)"),
    Slot("opening", ("clock",), r"opening (?:time|hour)s?", r"opens?(?: (?:at|from))?"),
    Slot("closing", ("clock",), r"closing (?:time|hour)s?", r"(?:closes?|shuts?)(?: at)?"),
    Slot("start time", ("clock",), r"start(?:ing)? time|kick-?off|alarm",
         r"starts?(?: at)?|begins?(?: at)?|(?:is|are|meets?|held|runs?|fires?) at"
         r"|takes place at|leaves at|departs at|(?:scheduled|booked|set|planned) for"),
    Slot("window", ("when",), r"(?:maintenance|deploy(?:ment)?|release|backup|service|change|patch) (?:window|slot"
         r"|day)"),
    Slot("home", ("any",), r"(?:home |postal |street |mailing )?address|home ?town|home",
         r"lives? (?:in|at|on)|living in|resides? in"
         r"|moved (?:house )?to(?=\s+[A-Z\d])|(?:am|is|are) based in"),
    Slot("employer", ("name",), r"employer|company", r"works? (?:at|for)|working (?:at|for)|employed (?:at|by)"
         r"|(?:new )?job (?:at|with)|started (?:work )?at|(?:first|second) (?:day|week|month) at"
         r"|(?:am|'m|’m|is) (?:an? )[a-z ]{3,30} at"),
    Slot("workplace", ("any",), "", r"works? (?:from|out of)|working (?:from|out of)"
         r"|moved (?:over )?to(?= (?:the|our) [\w ]+ (?:office|branch|site)\b)"),
    Slot("phone", ("phone",), r"(?:phone|mobile|cell|telephone|fax|contact)(?: number)?|extension|number",
         r"(?:call|ring|text|reach|phone|dial)(?: (?:me|us|him|her|them))? (?:on|at)|dial"),
    Slot("e-mail", ("email",), r"e-?mails?(?: address)?|address",
         r"(?:write|mail|e-?mail|send|reach|go|goes)\b([^.;]{0,30}?) (?:to|at|me at)"),
    Slot("address", ("url",), r"url|uri|endpoint|address|site|website|dashboard|docs|wiki|homepage|host(?:name)?"
         r"|domain|server",
         r"(?:hosted|lives?|available|served|moved|reachable|is|are|found|runs?|sits?) (?:at|on|to|under|from)"),
    Slot("branch", ("slug",), r"(?:working |default |release |feature )?branch",
         r"commit(?:s|ting|ted)?\b([^.;]{0,60}?) (?:on|to)|(?:work(?:s|ing)?|pushed|push"
         r"|merged?)\b([^.;]{0,40}?) (?:on|to|into)|(?:lives?|is) on"),
    Slot("price", ("money", "number"), r"price|cost|fee|fare|subscription|tuition|charge",
         r"costs?|charges?|priced at|sells? (?:for|at)"
         r"|(?:is|are|goes) for|(?:is|are) (?:billed|sold) (?:at|for)|pays?"),
    Slot("rent", ("money", "number"), r"rent", r"rents? for"),
    Slot("salary", ("money", "number"), r"salary|wage|pay|hourly rate|day rate", r"earns?|makes?|is paid"),
    Slot("budget", ("money", "number"), r"budget"),
    Slot("limit", ("size", "percent", "duration", "number"),
         r"(?:\w+[- ])?(?:limit|cap|maximum|max|quota|ceiling|threshold)",
         r"limited to|capped at|(?:are|is) allowed|allows?"
         r"|can (?:take|hold|have|use|be)(?: up to| at most)?|up to|at most|no more than|may (?:take|use|have"
         r"|be)(?: up to| at most)?"),
    Slot("lifetime", ("duration",), r"ttl|time to live|lifetime", r"(?:expires?|cached|lives?|valid) (?:after|for)"),
    Slot("timeout", ("duration",), r"time-?out", r"times? out (?:after|at)|gives? up after|waits?(?: for)?"),
    Slot("interval", ("duration", "frequency"), r"interval|period|cadence|frequency|schedule",
         r"polls?(?: every)?|goes out|runs?|happens"
         r"|(?:is|are) (?:sent|published|run|held|rotated|backed up|taken|done|performed|refreshed|updated"
         r"|released)|rotates?|refreshes"
         r"|meets?|polled|publish(?:es)?|comes out|appears"),
    Slot("retention", ("duration",), r"retention(?: period| time)?",
         r"(?:retained|kept|stored|saved|archived)(?: for)?|keeps?"
         r"|deleted after|purged after|rotated after"),
    Slot("length", ("duration",), r"length|duration",
         r"lasts?|takes?|runs? for|(?:is|are)(?=[^.;]{0,30}\blong\b)|do|have|work in"),
    Slot("count", ("number",), r"replicas?|concurrency|pool size|batch size|headcount|head count"
         r"|parallelism|retries|retry count"
         r"|instances|shards|partitions|seats|seat count|population|capacity|quorum|temperature|score|team size"
         r"|page size|window size"
         r"|(?:learning|sampling) rate|seed|priority|depth"),
    Slot("size", ("size",), r"(?:\w+ )?size|memory|disk|heap|ram|storage|weight|height|width|capacity|length|distance"),
    Slot("share", ("percent",), r"share|rate|coverage|percentage|proportion|discount|margin|interest|weight|usage"
         r"|quota|vat|tax"),
    Slot("status", ("state",), r"status|state",
         r"(?:is|are|was|got|has been|have been|moved to|marked(?: as)?)(?: (?:now|still|back))?|(?=:):"
         r"|((?:ticket|issue|pr|task|bug|order|invoice|job|build|mr|case|pull request|story)\s+#?[\w-]*\d[\w-]*)"),
    Slot("name", ("any",), r"(?:\w+ )?name|codename|handle|username|title",
         r"(?:is|are|was) (?:now )?(?:called|named|known as|code-?named)|goes by|renamed to"),
    Slot("code", ("any",), r"(?:\w+ )?code|pin|password|passcode|passphrase|combination"),
    Slot("birthday", ("date",), r"birthday|date of birth|anniversary", r"born on"),
    Slot("region", ("any",), r"(?:\w+ )?region|availability zone|data ?cent(?:re|er)|location|venue|head ?office"
         r"|headquarters|hq",
         r"(?:is|are) (?:hosted|located|deployed|situated|held|kept|stored|based)(?: (?:in|at|on|under|to))"
         r"|(?:hosted|located|deployed) (?:in|at|on|to)"),
    Slot("thing", ("any",),
         r"editor|shell|terminal|browser|ide|theme|colou?r scheme|font|database|primary database|queue"
         r"|message broker|broker|cache|ci"
         r"|ci system|tracker|issue tracker|ticket system|wiki|registry|package manager|build tool|linter|formatter"
         r"|test runner|orm|cloud provider|hosting|crm|timezone|time zone|currency|locale|licen[cs]e|logo|mascot"
         r"|gym|bank|primary language"
         r"|operating system|os|distro|web server|load balancer|proxy|search engine|default \w+|main \w+"
         r"|favou?rite \w+|current \w+"
         r"|preferred \w+|backend|storage backend|log level|base image|runtime|embedding model|chat tool"
         r"|monitoring|mail provider"
         r"|working title|capital|status page|source of truth|wallpaper|seat|room|meeting room|desk|diet|blood type"
         r"|job|job title|position|phone|laptop|car|school|major|nickname|motto|theme"
         r"|flight"
         r"|supplier|payment provider|payroll provider|auth provider|identity provider",
         keyed=True),
)  # fmt: skip  # fmt: on
"""Slots that hold one value by their nature."""

PERSONAL = (
    "home",
    "phone",
    "e-mail",
    "name",
    "employer",
    "workplace",
    "manager",
    "rent",
    "salary",
    "birthday",
    "role",
    "thing",
)
"""Slots that who speaks has; any other is of something that a text must name, or tell nothing besides."""
MODIFIED = ("size", "name", "code", "limit", "region", "day of", "window", "count", "branch")
"""Slots whose nouns say of what they are by the word before: the heap size is not the page size."""
OF_SPEAKER = ("home", "phone", "e-mail", "name")
"""Slots that a noun of two words names as one does: one's home address is where one lives."""
MORE = frozenset(
    "also too additionally besides second another both extra either additional plus alternatively well".split()
)
"""Words by which a text adds a value, and takes none back."""
MANY = r"\b(?:likes?|loves?|enjoys?|supports?|(?:has|have)(?! (?:been|become|gone|moved|changed|switched|taken|\w+ed)\b)|had|knows?|speaks?|owns|plays?|includes?|contains?|joined|fixed|added|visited|met|bought|read|watched|fan of|member|members|one of|some|several|many)\b"  # noqa: E501
"""What holds many by its nature: only what ends it by name closes it."""
MANY_IF_NOW = r"\b(?:uses?|using|takes?|eats?|works? on|written in|built with|learn(?:s|ing)?|working on)\b"
"""What may hold many, and does not where a text says that one was changed for another."""
MOVED = (
    r"\b(?:(?:has |have |was |were |been |be |we'?ve |i'?ve |is |are |being )*(?:moved|switched|changed|migrated"
    r"|transferred|upgraded|downgraded"
    r"|bumped|raised|lowered|increased|decreased|reduced|extended|shortened|postponed|delayed|pushed(?: back)?"
    r"|brought forward|rescheduled"
    r"|relocated|reassigned|handed(?: over)?|reverted|rolled back|cut|swapped|shifted|converted|dropped|went (?:up"
    r"|down|over)|gone (?:up|down)|slipped)"
    r"\b[^.;]{0,60}?\b(?:to|over to|onto|for|by|until|from)\b"
    r"|back (?:to|on|at|in|with)|went back|(?:has|have) become|became|took over|taken over|takes over|replaces"
    r"|replaced|supersedes"
    r"|renamed|instead|again|from now on|as of|since (?=\d|last|this|yesterday|today|january|february|march|april"
    r"|(?-i:May)|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|spring|summer|autumn|winter)|starting(?: (?:from|in|on))?|effective|no longer|any ?more)\b"
)
"""What says that something was changed for something else."""
NOW = r"\b(?:now|currently|nowadays|these days|today|new|newly|meanwhile|by now|at present)\b"
"""What says that something holds now, and maybe did not before."""
ENDED = (
    r"\b(?:no longer|not(?: \w+){0,4}? any ?more|n['’]t(?: \w+){0,4}? any ?more|any ?more|dropped|dropping|stopped"
    r"|gave up|given up|quit"
    r"|retired|removed|got rid of|taken out|took out|instead of|rather than|discontinued|decommissioned|shut down"
    r"|turned off"
    r"|phased out|abandoned|ditched|(?:we|i)(?: have|'ve)? replaced|(?:has|have) been replaced"
    r"|moved (?:\w+ ){0,3}?from|switched (?:\w+ ){0,3}?from"
    r"|migrated (?:\w+ ){0,3}?from|changed (?:\w+ ){0,3}?from|moved off|moved away from|deprecated|unsubscribed"
    r"|uninstalled|scrapped|is gone|are gone|no more|lifted)\b"
)
"""What says that something has ended; it is named in the same clause."""
DENIES = r"\b(?:not|never|no|none|without|neither|nor|cannot|no longer|any ?more)\b|n['’]t\b"
SUPPOSES = (
    r"\?|\b(?:might|(?-i:may)|could|would|maybe|perhaps|probably|possibly|considering|thinking (?:of|about)|think"
    r"|guess|plan(?:ning)? to|want(?:s|ed)? to"
    r"|if|unless|whether|suggest|propose[ds]?|proposal|should we|let's|until|e\.g|for example|such as|hope|wish"
    r"|seems|rumou?r|apparently"
    r"|temporar(?:y|ily)|for the time being|for instance"
    r"|default is|typically|usually|roughly|approximately|approx|around|estimated?)\b"
)
"""What only supposes, plans, or gives an example; it replaces nothing."""
PAST = (
    r"\b(?:was|were|used to|had|yesterday|last (?:week|month|year|night)|ago|back then|previously|formerly"
    r"|originally|until)\b"
)
"""What tells of the past alone."""

QUALIFIES = frozenset(
    """
    own personal
    stage staging product production prod test dev develop local remot backup secondari primari main replica metric
    health admin intern extern public privat read write reader writer old new mobil web desktop android io north south
    east west upper lower left right first second third last next previous home work europ eu us uk asia global region
    weekend weekday summer winter spring autumn morn evening afternoon night student adult child sister brother mother
    father mom dad wife husband son daughter friend colleagu parent cousin aunt uncl partner client custom vendor
    guest emerg support sale market hr debug releas canari blue green shadow legaci beta alpha demo sandbox qa uat ci
    free pro premium basic enterpris annual month monthly week weekly year yearli draft final min max minimum maximum
    read-only frontend backend front back end client-side server-side inner outer master slave leader follow spare
    altern fallback default temporari soft hard upload download incom outgo inbound outbound read-write cold warm hot
    idle connect dog cat kid boss manag landlord neighbour neighbor roommat flatmat ex grandma grandpa grandmother
    grandfather niec nephew
    """.split()
)
"""Stems that tell one thing from another of its kind: what only one side has of them makes another subject."""
GENERIC = frozenset(
    """
    servic server system app applic team tool compani thing project process job machin box compon modul instanc person
    user offic date time number level set valu setup env place name state stuff everyth anyth someth one
    """.split()
)
"""Stems that say of what kind a thing is, and not which."""
SAYS_NOTHING = frozenset(
    """
    use using run go goe come get got make made set put take keep say said tell know need want call see find reach be
    been do now current nowaday today new still week day month year first pleas anyth everyth thing contact send sent
    store live host deploy publish serv held hold happen place schedul plan book move switch chang becom becam updat
    start begin begun back again instead long longer anymor via through per each at most up to note remind correct
    actual here handl done found sit stand work allow decid agre went have has had give given good ok okay fyi ask
    locat situat base kept stay remain will since effect oper show end rais lower increas reduc reduct bump upgrad
    migrat renam replac revert rollback due pay frequenc frequent write turn expect also everi
    """.split()
)
"""Stems that say nothing of what a text is about."""
