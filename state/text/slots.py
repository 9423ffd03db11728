"""The words behind `replacing`: slots that hold one value at a time, by what they are told, and what says a change.

English only. A word stands here only where it says the same of most things: what is in doubt stays out. No code that
reads a text lives here.
"""

from __future__ import annotations

from typing import NamedTuple


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
         r"|under)|open|visit|browse to|go to"
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
         r"|translator|pa?ediatrician|optician|mechanic|gardener|postdoc|superintendent|(?:head |sous |pastry )?chef"
         r"|cook|baker|butcher|florist|photographer|caretaker|janitor|concierge|midwife|surgeon|conductor|librarian"
         r"|facilitator|moderator|referee|instructor|chauffeur|babysitter|dog walker|housekeeper|bookkeeper"
         r"|estate agent|(?:tax|financial|investment|career) advis[eo]r|stylist|tailor|decorator|roofer|painter"
         r"|surveyor|counsel|counsel?lor|psychologist|osteopath|dermatologist|cardiologist|gyn[ae]+cologist"
         r"|orthodontist|hygienist|nurse|godfather|godmother|best man|head of [a-z]+|chief of [a-z]+"
         r"|chief [a-z]+ officer",
         keyed=True),
    Slot("deadline", ("date", "weekday"), r"deadline|due date|cut-?off(?: date)?|closing date|submission date",
         rf"(?:is|are|am) due(?: (?:on|by))?|due|(?:must|has to|have to|needs? to|should) be {_DUE}(?: (?:on|by"
         rf"|before|until))?"),
    Slot("launch", ("date", "weekday"), r"(?:launch|release|go-live|ship(?:ping)?|delivery) ?(?:date|day)?",
         r"launch(?:es)?|ships?|goes live|(?:will be|is|are) (?:released|launched|shipped|delivered)"),
    Slot("hours", ("hours",), r"(?:\w+ )?hours", r"(?:is|are) open|opens?|open"),
    Slot("term", ("duration",), r"(?:notice|trial|grace|payment|probation|billing) (?:period|term)|warranty|lead time"
         r"|turnaround|(?:delivery|response|waiting) time", r"(?:is|are) (?:due|payable) (?:in|within|after)"),
    Slot("licence", ("name",), r"licen[cs]e", r"(?:is|are|comes?) (?:licen[cs]ed )?under|licen[cs]ed under"),
    Slot("vehicle", ("any",), "", r"(?:drives?|driving|commutes?|commuting|rides?|riding"
         r"|cycles?)(?: to work)?(?: (?:on|by|in|with))?"),
    Slot("seat", ("any",), r"seat|desk", r"(?:sits?|sitting|seated) (?:at|in)|put (?:me|him|her|them) (?:at|in)"),
    Slot("weight", ("number",), r"weight(?: this morning| today)?|(?:on )?the scales?", r"weighs?|weighed"),
    Slot("end", ("date", "weekday"), r"end date|(?:year|term|contract|project|lease|season|semester) end",
         r"ends?(?: (?:on|in|at|by))?"),
    Slot("begin", ("date", "weekday"), r"start(?:ing)? date", r"(?:starts?|begins?)(?: (?:on|in|from))"),
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
    Slot("home", ("any",), r"(?:home |postal |street |mailing )?address|home ?town|home|(?:my|our)(?: new)? (?:flat"
         r"|apartment|place|house)(?= is (?:in|at|on)\b)",
         r"lives? (?:in|at|on)|living in|resides? in"
         r"|moved (?:house |back )?(?:in)?to(?=\s+[A-Z\d])|(?:am|is|are) based in"),
    Slot("employer", ("name",), r"employer|company", r"works? (?:at|for)|working (?:at|for)|employed (?:at|by)"
         r"|(?:new )?job (?:at|with)|started (?:work )?at|(?:first|second) (?:day|week|month) at"
         r"|(?:am|'m|’m|is) (?:an? )[a-z ]{3,30} at"),
    Slot("workplace", ("any",), "", r"works? (?:from|out of)|working (?:from|out of)"
         r"|moved (?:over )?to(?= (?:the|our) [\w ]+ (?:office|branch|site)\b)"),
    Slot("phone", ("phone",), r"(?:phone|mobile|cell|telephone|fax|contact)(?: number)?|extension|number",
         r"(?:call|ring|text|reach|phone|dial)\b([^.;:]{0,30}?) (?:on|at|under)|dial"),
    Slot("e-mail", ("email",), r"e-?mails?(?: address)?|address",
         r"(?:write|mail|e-?mail|send|reach|go|goes)\b([^.;]{0,30}?) (?:to|at|me at)"),
    Slot("address", ("url",), r"url|uri|endpoint|address|site|website|dashboard|docs|wiki|homepage|host(?:name)?"
         r"|domain|server",
         r"clone\b([^.;]{0,30}?) from|open|visit|(?:log|sign) in (?:at|on|to)|(?:hosted|lives?|available|served|moved"
         r"|reachable|is|are|found|runs?|sits?) (?:at|on|to|under|from)"),
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
    "vehicle",
    "seat",
    "weight",
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
MANY = r"(?<!\bis )(?<!\bare )(?<!\bwas )\b(?:likes?|loves?|enjoys?|supports|(?:we|they|you|to) support|(?:has|have)(?! (?:been|become|gone|moved|changed|switched|taken|\w+ed)\b)|had|knows?|speaks?|owns(?! (?:the|our|this|that)\b)|plays?|includes?|contains?|joined|fixed|added|visited|met|bought|read|watched|fan of|member|members|one of|some|several|many)\b"  # noqa: E501
"""What holds many by its nature: only what ends it by name closes it."""
MANY_IF_NOW = r"\b(?:uses?|using|takes?|eats?|works? on|written in|built with|learn(?:s|ing)?|working on)\b"
"""What may hold many, and does not where a text says that one was changed for another."""
MOVED = (
    r"\b(?:(?:has |have |was |were |been |be |we'?ve |i'?ve |is |are |being )*(?:moved|switched|changed|migrated"
    r"|transferred|upgraded|downgraded"
    r"|bumped|raised|lowered|increased|decreased|reduced|extended|shortened|postponed|delayed|pushed(?: back)?"
    r"|brought forward|rescheduled"
    r"|scaled|grew|grown|shrunk|shrank|rose|risen|fell|fallen|climbed|jumped|relocated|reassigned|handed(?: over)?"
    r"|reverted|rolled back|cut|swapped|shifted|converted|dropped|went (?:up"
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
DENIES = r"(?<![\w-])(?:not|never|no|none|without|neither|nor|cannot|no longer|any ?more)(?![\w-])|n['’]t\b"
SUPPOSES = (
    r"\?|\b(?:might|(?-i:may)(?! (?:\w+ ){1,4}?(?:up to|at most|no more than|only)\b)|could|would|maybe|perhaps"
    r"|probably|possibly|considering|thinking (?:of|about)|think"
    r"|guess|plan(?:ning)? to|want(?:s|ed)? to"
    r"|if|unless|whether|suggest|propose[ds]?|proposal|should we|(?-i:let's)|until|e\.g|for example|such as|hope|wish"
    r"|seems|rumou?r|apparently"
    r"|temporar(?:y|ily)|for the time being|for instance"
    r"|default is|typically|usually|roughly|approximately|approx|around|estimated?)\b"
)
"""What only supposes, plans, or gives an example; it replaces nothing."""
CHANGES = (
    r"extension|delay|postponement|change|move|switch|rise|increase|raise|cut|drop|reduction|update|correction|rename"
    r"|replacement|migration|relocation|swap"
)
"""Nouns of a change: another of these gives another value, and not one beside."""
ADDS = (
    r"\b(?:also|too|as well|in addition|additionally|besides"
    rf"|(?:another|an? (?:second|third|extra|additional))(?! (?:\w+ )?(?:{CHANGES})\b)|extra|either"
    r"|alternatively|was added|were added|have added|(?:the|our|my) (?:second|other))\b"
)
"""What adds a value, and takes none back."""
PAST = (
    r"\b(?:was|were|used to|had|yesterday|last (?:week|month|year|night)|ago|back then|previously|formerly"
    r"|originally|until)\b"
    r"|\b(?:i|we|he|she|they|it)(?: just| recently| finally| already)* (?!need|speed|feed|seed|bleed"
    r"|breed)(?:\w{2,}ed|went|got|ran"
    r"|did|made|saw|had|came|gave|found|met|bought|wrote|spent|spoke|sent|began|left|felt|told|built|won|lost|ate)\b"
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
    user broker provid offic file ticket issu task model date time number level set valu setup env place name state
    stuff everyth anyth someth one
    """.split()
)
"""Stems that say of what kind a thing is, and not which."""
SAYS_NOTHING = frozenset(
    """
    use using run go goe come get got make made set put take keep say said tell know need want call see find reach be
    been do now current nowaday today new still week day month year pleas anyth everyth thing contact send sent
    store live host deploy publish serv held hold happen place schedul plan book move switch chang becom becam updat
    start begin begun back again instead long longer anymor via through per each at most up to note remind correct
    actual here handl done found sit stand work allow decid agre went have has had give given good ok okay fyi ask
    locat situat base kept stay remain will since effect oper show end rais lower increas reduc reduct bump upgrad
    migrat renam replac revert rollback push postpon extend shorten cut delay slip reschedul reloc transfer convert
    swap forward
    exchang shift due pay frequenc frequent write turn expect also everi kg kilo
    """.split()
)
"""Stems that say nothing of what a text is about."""
SYNONYMS = dict(
    pair.split("=")
    for pair in """
    db=databas repo=repositori doc=document docs=document stat=statist admin=administr administ=administr
    config=configur conf=configur app=applic auth=authent env=environ dev=develop prod=product mum=mother mom=mother
    dad=father stand-up=standup wi-fi=wifi colour=color licenc=licens organis=organiz uni=univers lab=laboratori
    exam=examin fridg=refriger tv=televis bike=bicycl pkg=packag k8s=kubernet kube=kubernet pg=postgr postgresql=postgr
    dept=depart temp=temperatur bday=birthday appt=appoint img=imag msg=messag cert=certif infra=infrastructur
    perf=perform sub=subscript tel=phone telephon=phone cellphon=phone flat=apart hous=home kid=child
    sync=synchron dir=directori spec=specif intro=introduct max=maximum min=minimum
    """.split()
)
"""Stems that people write for one another."""
