"""The tables behind `replacing`: slots with one value at a time, frames of verbs, and patterns of values.

English only. A row is here only if it holds for most things: doubtful rows stay out. No code that reads a
text lives here.
"""

from __future__ import annotations

from typing import NamedTuple


class ValueSlot(NamedTuple):
    """A slot with one value at a time: nouns that name it, verbs before and behind its value.

    A `keyed` slot is a slot for each noun: a person's dentist is not their doctor. A `numbered` slot belongs
    only to numbered things, such as tickets.
    """

    name: str
    values: tuple[str, ...]
    nouns: str = ""
    verbs: str = ""
    owners: str = ""
    keyed: bool = False
    numbered: bool = False


_DONE = r"(?:in|submitted|delivered|finished|done|sent|filed|ready|paid|handed in|completed|returned)"
_PUT_OFF = (
    r"(?:(?:is|are|was|were|been|got|has|have) )*(?:moved|pushed(?: back)?|postponed|rescheduled|brought forward"
    r"|delayed|shifted)\b([^.;]{0,40}?) to"
)

SLOTS = (
    ValueSlot("port", ("port",), r"port", r"listen(?:s|ing)? (?:on|at)|reach(?:ed|able)?\b([^.;]{0,40}?) (?:at|on)"
         r"|(?:served|answers?|exposed|available|bound|binds?|mapped) (?:on|at|to)"),
    ValueSlot("version", ("version",), r"version", r"runs|is on|are on|pinned (?:to|at)|upgraded to|version(?:ed)? at"),
    ValueSlot("release", ("release",), "", r"runs?(?: on)?|uses?|(?:is|are) (?:now )?on|(?:up|down)graded to|bumped to"
         r"|built (?:on|with)|requires?|needs?|moved to"),
    ValueSlot("owner", ("name",), r"owner|maintainer|contact(?: person)?|point of contact|person in charge",
         r"(?:owned|maintained|looked after|managed|handled) by|belongs to",
         r"owns(?! an?\b)|maintains|looks after|is (?:responsible for|in charge of)|takes care of"),
    ValueSlot("lead", ("name",), r"lead|leader|head", r"(?:led|headed|chaired) by", r"leads|heads(?: up)?|chairs"),
    ValueSlot("conductor", ("name",), "", r"conducted by", r"conducts|(?:took|takes|has taken) over conducting"),
    ValueSlot("on call", ("name",), r"on[- ]call(?: engineer| person)?|pager", r"pager (?:is|goes|lies) (?:with|to)",
         r"is on[- ]call|(?:has|holds|carries|takes) the pager"),
    ValueSlot("manager", ("name",), r"manager|boss|supervisor|line manager",
         r"reports? to|reporting to|managed by|supervised by", r"supervises"),
    ValueSlot("role", ("name",),
         r"ceo|cto|cfo|coo|ciso|director|president|editor in chief|chair(?:man|woman|person)?|treasurer|secretary"
         r"|(?:family )?(?:doctor|dentist)|gp|therapist|accountant|tax advis[eo]r|lawyer|solicitor|notary|landlord"
         r"|landlady|tutor|coach|trainer|plumber|electrician|hairdresser|vet|nanny|cleaner"
         r"|(?:product|project|account|release|office|store|team|incident) manager|mentor|scrum master|sponsor"
         r"|supplier|provider|vendor|caterer|carrier|insurer|bank|broker|message broker|registrar|isp|wife|husband"
         r"|captain|principal|mayor|auditor|architect|tenant|publisher|translator|p(?:a)?ediatrician|mechanic"
         r"|gardener|(?:head |sous |pastry )?chef|photographer|caretaker|midwife|conductor|librarian|moderator"
         r"|referee|instructor|babysitter|bookkeeper|estate agent|designer|head of [a-z]+",
         keyed=True),
    ValueSlot("deadline", ("date", "weekday"), r"deadline|due date|cut-?off(?: date)?|closing date|submission date",
         rf"(?:is|are) due(?: (?:on|by))?|(?:must|has to|have to|needs? to) be {_DONE}(?: (?:on|by|before))?"),
    ValueSlot("launch", ("date", "weekday"), r"(?:launch|release|go-live|ship(?:ping)?|delivery) ?(?:date|day)?",
         r"launch(?:es)?|ships?|releases? (?:happens?|are|is)|goes live|(?:will be|is|are) (?:released|launched)"),
    ValueSlot("hours", ("hours",), r"(?:opening |office )?hours", r"(?:is|are) open|opens?"),
    ValueSlot("term", ("duration",), r"(?:notice|trial|grace|payment|probation|billing) (?:period|term)|warranty"
         r"|lead time|turnaround|(?:delivery|response|waiting) time", keyed=True),
    ValueSlot("licence", ("name",), r"licen[cs]e", r"(?:is|are|comes?) under|(?:re)?licen[cs]ed (?:under|to)"
         r"|relicen[cs]ed\b([^.;]{0,30}?) (?:under|to)"),
    ValueSlot("vehicle", ("any",), "", r"drives?(?= an?\b)"),
    ValueSlot("commute", ("any",), "", r"(?:drives?|commutes?) (?:to work )?(?:by|with)"),
    ValueSlot("seat", ("any",), r"seat", r"(?:sits?|sitting|seated) at|put (?:me|him|her|them) at"),
    ValueSlot("weight", ("number",), r"weight(?: this morning| today)?|(?:on )?the scales?", r"weighs?"),
    ValueSlot("end", ("date", "weekday"), r"end date|(?:year|term|contract|project|lease|season|semester) end",
         r"ends?(?: (?:on|in|at|by))?"),
    ValueSlot("expiry", ("date",), r"expiry(?: date)?|renewal(?: date)?", r"expires?|runs? out|valid until"),
    ValueSlot("day", ("date", "weekday"), r"(?:exam|wedding|move|moving|meeting|appointment|party|trip) (?:date|day)",
         r"(?:is|are|will be)(?: (?:held|scheduled|planned|set|booked|for|on|now|moved))+"
         r"|(?:takes place|happens?|meets?|falls)(?: on)?|(?:collected|picked up|emptied|delivered) on"
         rf"|(?:scheduled|planned|booked|set|rescheduled) for|(?:starts?|begins?) on|are for|{_PUT_OFF}"),
    ValueSlot("opening", ("clock",), r"opening time", r"opens?(?: (?:at|from))?"),
    ValueSlot("closing", ("clock",), r"closing time", r"(?:closes?|shuts?)(?: at)?"),
    ValueSlot("start", ("clock",), r"start(?:ing)? time|kick-?off|alarm",
         r"(?:starts?|begins?|meets?|runs?|fires?|takes place|leaves|departs|is|are)(?: now)? at"
         rf"|(?:scheduled|booked|set|planned) for|{_PUT_OFF}"),
    ValueSlot("window", ("when",),
         r"(?:maintenance|deploy(?:ment)?|release|backup|service|change|patch) (?:window|slot)",
         keyed=True),
    ValueSlot("home", ("any",), r"(?:home |postal |street |mailing )?address|home ?town"
         r"|(?:my|our)(?: new)? (?:flat|apartment|place|house)(?= is (?:in|at|on)\b)",
         r"lives? (?:in|at)|living in|resides? in|moved (?:house |back )?to(?=\s+[A-Z\d])"),
    ValueSlot("employer", ("name",), r"employer", r"works? (?:at|for)|working (?:at|for)|employed (?:at|by)"
         r"|(?:new )?job (?:at|with)|started (?:work )?at|(?:first|second) (?:day|week|month) at"),
    ValueSlot("workplace", ("any",), "", r"works? (?:from|out of)|working (?:from|out of)"
         r"|moved (?:over )?to(?= (?:the|our) [\w ]+ office\b)"),
    ValueSlot("phone", ("phone",), r"(?:phone|mobile|cell|telephone)(?: number)?|number",
         r"(?:call|ring|text|reach|phone)\b([^.;:]{0,30}?) (?:on|at|under)"),
    ValueSlot("e-mail", ("email",), r"e-?mails?(?: address)?",
         r"(?:write|mail|e-?mail|reach)\b([^.;]{0,30}?) (?:to|at)"),
    ValueSlot("address", ("url",), r"url|uri|endpoint|homepage|host(?:name)?|domain",
         r"clone\b([^.;]{0,30}?) from"
         r"|(?:is|are|found|lives?|hosted|available|served|reachable|published) (?:at|under)"),
    ValueSlot("branch", ("slug",), r"(?:working |default |release )?branch",
         r"commit(?:s|ting|ted)?\b([^.;]{0,60}?) (?:on|to)"),
    ValueSlot("price", ("money",), r"price|cost|fee|fare|tuition",
         r"costs?|charges?|priced at|sells? (?:for|at)|(?:is|are)(?= [$€£\d])|(?:is|are) (?:billed|sold) (?:at|for)"),
    ValueSlot("rent", ("money", "number"), r"rent"),
    ValueSlot("salary", ("money", "number"), r"salary|wage|hourly rate|day rate", r"earns?"),
    ValueSlot("budget", ("money", "number"), r"budget"),
    ValueSlot("limit", ("size", "percent", "duration", "number"),
         r"limit|cap|maximum|minimum|quota|ceiling|threshold",
         r"limited to|capped at|may (?:take|use|have|be|go)(?: up to| at most)?"),
    ValueSlot("lifetime", ("duration",), r"ttl|time to live|lifetime", r"(?:cached|valid) for"),
    ValueSlot("timeout", ("duration",), r"time-?out", r"times? out after|gives? up after"),
    ValueSlot("interval", ("frequency",), r"interval|cadence|frequency|schedule",
         r"polls?|goes out|runs?|rotates?|refreshes|publish(?:es)?|comes out|appears"
         r"|(?:is|are)(?: now)? (?:sent|published|run|rotated|backed up|exported|refreshed|updated|released)"),
    ValueSlot("retention", ("duration",), r"retention(?: period| time)?",
         r"(?:retained|kept|stored|archived) for|(?:deleted|purged) after"),
    ValueSlot("length", ("duration",), r"length|duration", r"lasts?|takes|(?:is|are)(?=[^.;]{0,30}\blong\b)"),
    ValueSlot("count", ("number",), r"replicas?|concurrency|pool size|batch size|head ?count|parallelism|retries"
         r"|instances|shards|partitions|seats|population|quorum|team size|page size|learning rate|depth",
         keyed=True),
    ValueSlot("size", ("size",), r"size|memory|disk|heap|ram", keyed=True),
    ValueSlot("share", ("percent",), r"coverage|discount|margin|vat|rate", keyed=True),
    ValueSlot("goal", ("percent", "money", "number"), r"goal|target"),
    ValueSlot("status", ("state",), r"status|state",
         r"(?:is|are|was|got|has been|moved to|marked(?: as)?)(?: (?:now|still|back))?|(?=:):"
         r"|((?:ticket|issue|pr|task|bug|order|invoice|job|mr|case|pull request|story)\s+#?[\w-]*\d[\w-]*)",
         numbered=True),
    ValueSlot("name", ("title",),
         r"codename|nickname|project name|name", r"(?:is|are) (?:now )?(?:called|named|known as)"
         r"|goes by|renamed(?: [^.;]{1,30}?)? to"),
    ValueSlot("code", ("any",), r"(?:wi-?fi |door |entry )?(?:code|pin|password|passcode|passphrase|combination)"),
    ValueSlot("birthday", ("date",), r"birthday|date of birth", r"born on"),
    ValueSlot("room", ("any",), r"room", r"(?:is|are|meets?|sits?) in(?= room\b)|moved to(?= room\b)"),
    ValueSlot("region", ("any",), r"region|availability zone|data ?cent(?:re|er)|venue|headquarters|hq"),
    ValueSlot("thing", ("any",),
         r"editor|shell|terminal|browser|ide|colou?r scheme|font|(?:primary )?database|queue|ci(?: system)?"
         r"|(?:issue )?tracker|ticket system|registry|package manager|build tool|linter|formatter|test runner|orm"
         r"|cloud provider|crm|time ?zone|currency|locale|logo|mascot|gym|operating system|os|distro|web server"
         r"|main cluster|load balancer|search engine|current task|log level|base image|runtime|chat tool|mail provider"
         r"|working title|capital|(?:primary|main|accent|brand) colou?r|status page|wallpaper|diet|blood type"
         r"|job title|phone|laptop|car|payment provider|payroll provider|auth provider",
         keyed=True),
)  # fmt: skip
"""Slots with a single value by nature: another value of the same subject replaces the first."""

FRAMES = {
    "with": ("build built render generate compile bundle package style implement deploy bill pay track monitor lint"
             " format book schedule heat manage handle host", r"with|using|via|through"),
    "in": ("write written rewrite rewritten build built implement host store keep kept publish document train meet"
           " rehearse practise hold held teach taught park deploy", r"in"),
    "at": ("host meet train rehearse practise hold held park store keep kept deploy publish", r"at|on|behind|under"),
    "by": ("write written teach taught review moderate coordinate organise organize host insure clean fire print"
           " supply supervise direct edit", r"by"),
    "to": ("go send sent ship forward export push report", r"to"),
    "from": ("buy bought order come supply purchase source", r"from"),
}  # fmt: skip
"""Verbs by the preposition before their object.

Things may have several such values: a value replaces another only if the newer text says that it holds now,
or that a change happened.
"""

MOVED = (
    r"\b(?:moved|switched|changed|migrated|transferred|upgraded|downgraded|renamed|rewritten|swapped|converted|replaced"
    r"|went|came|relocated|repainted|ported)\b"
)
CHANGED = (
    r"\b(?:now|nowadays|these days|from now on|as of|since|starting|effective|no longer|any ?more|instead|again|back"
    r"|new|meanwhile|moved|switched|changed|migrated|upgraded|downgraded|bumped|raised|lowered|increased|decreased"
    r"|reduced|extended|postponed|pushed|rescheduled|scaled|renamed|rewritten|relicen[cs]ed|replaced|went (?:up|down)"
    r"|became|become|another)\b"
)
"""Words for a new state."""
DENIES = r"(?<![\w-])(?:not|never|no(?! longer)|none|without|neither|nor|cannot)(?![\w-])|n['’]t\b"
SUPPOSES = (
    r"\?|\b(?:might|(?-i:may)(?! (?:take|use|have|be|go)\b)|could|would|maybe|perhaps|probably|possibly|considering"
    r"|thinking|think|guess|plan(?:ning)? to|want(?:s|ed)? to|if|when|unless|whether|suggest|propose[ds]?|proposal"
    r"|should we|(?-i:let's)|until|e\.g|for example|such as|hope|wish|seems|rumou?r|apparently|temporar(?:y|ily)"
    r"|for the time being|for instance|typically|usually|roughly|approximately|around|about \d|estimated?)\b"
)
"""Signs of a supposition, plan or example, which replaces nothing."""
ADDS = (
    r"\b(?:also|too|as well|in addition|additionally|besides|an? (?:second|third|extra|additional|other)|extra|either"
    r"|another(?! (?:extension|delay|change|move|rise|update))|alternatively|plus|(?:the|our|my) (?:second|other))\b"
)
"""Words that add a value without ending another."""
PAST = (
    r"\b(?:was|were|used to|had|yesterday|last (?:week|month|year|night)|ago|back then|previously|formerly|originally"
    r"|once)\b"
)
"""Signs of a text about the past alone."""

GENERIC = frozenset(
    """
    servic server system app applic team tool compani thing project process job machin box compon modul instanc person
    user broker provid offic file ticket issu task model date time number level set valu setup env place name state
    stuff everyth anyth someth one
    """.split()
)
"""Stems for the kind of a thing, not for a single thing."""
SAYS_NOTHING = frozenset(
    """
    use using run go goe come get got make made set put take keep say said tell know need want call see find
    reach be been do now current nowaday today new still week day month year pleas anyth everyth thing
    contact send sent live host serv held hold happen place schedul plan book move switch chang becom becam
    updat start begin begun back again instead long longer anymor via through per each at most least more up
    to note remind correct actual here handl done found sit stand work allow decid agre went have has had
    give given good ok okay fyi ask locat situat base kept stay remain will since effect oper show end rais
    lower increas reduc reduct bump upgrad migrat renam replac revert rollback push postpon extend shorten
    cut delay slip reschedul reloc transfer convert swap forward exchang shift due pay frequenc frequent
    write turn expect kg kilo
    """.split()
)
"""Stems without meaning for a text's subject."""
SYNONYMS = dict(
    pair.split("=")
    for pair in """
    db=databas repo=repositori doc=document docs=document admin=administr config=configur conf=configur app=applic
    auth=authent env=environ dev=develop prod=product mum=mother mom=mother dad=father stand-up=standup wi-fi=wifi
    colour=color licenc=licens organis=organiz exam=examin k8s=kubernet kube=kubernet pg=postgr postgresql=postgr
    temp=temperatur appt=appoint img=imag max=maximum min=minimum
    """.split()
)
"""Stems used for one another."""
NO_NAMES = frozenset(
    """
    i we the this that it he she they you my our your his her their there what who which for from if when as in on no
    not none unknown mine yours german french dutch english spanish italian greek swiss polish turkish swedish danish
    norwegian finnish russian chinese japanese korean american british irish scottish canadian austrian belgian indian
    brazilian portuguese mexican catholic muslim jewish buddhist protestant left right late early
    """.split()
)
"""Words at the place of a name that are none: a boss who is French has another name."""
TONGUES = frozenset(
    """
    english german french spanish italian dutch portuguese russian chinese japanese korean polish turkish swedish arabic
    """.split()
)
LANGUAGES = frozenset(
    """
    python go golang rust java typescript javascript ruby php kotlin swift scala c c++ c# csv json xml yaml pdf latex
    markdown html cobol haskell elixir perl lua zig fortran bash sql r julia clojure erlang dart
    """.split()
)
"""Programming and natural languages: neither is a place, nor of the other kind."""
