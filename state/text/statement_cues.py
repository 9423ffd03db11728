"""The words that mark a statement: a decision, preference, correction, promise or fact, or an apparent one.

English, and German and Spanish for texts to remember. `polarity` finds standing instructions. `statements`
decides which sentences count, and which part of each is captured.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy

_I = re.IGNORECASE

REMEMBER = lazy(
    r"^(?:(?:and|also|ok(?:ay)?|so|oh|hey)[,\s]+)?(?:please\s+|pls\s+|bitte\s+|por favor,?\s+)?"
    r"(?:(?:can|could) you\s+(?:please\s+)?)?"
    r"(?:(?:remember|keep in mind|bear in mind|note(?: down)?|don'?t forget|do not forget|(?:make|take) (?:a )?note"
    r"|for the record|for future reference|fyi|merke? dir|denke? daran|vergiss nicht|recuerda|ten en cuenta|no olvides)"
    r"(?:\s+(?:that|dass|que)\b(?! (?:time|day|one|night|when|movie|thing)\b)[:,]?|\s*[:,–—])\s*)(?P<said>\S.*)",
    _I | re.DOTALL,
)

DECISION = lazy(
    r"\b(?:we|i|the team|they all|everyone)(?:\s+(?:have|has|all|both|finally|just|now|already|also"
    r"|jointly))*(?:'ve|’ve)?(?:\s+(?:finally|just|now|already|also|jointly|all|both|then"
    r"|never))*\s+(?:decided|agreed|(?:chose|chosen|picked)(?! (?:this|that|these|those|it|them)\b)"
    r"|settled on|opted|committed to|ruled out|signed off on|approved|(?:went|are going|'re going|will go"
    r"|'ll go)\s+with)\b|\b(?:we|i)(?:'ll|’ll| will|'re going to|’re going to| are going to)\s+(?:stick with"
    r"|go with|stay (?:on|with)|keep using|standardi[sz]e on|use)\s+\S+|\b(?:we|i)(?:'re|’re|'m|’m| are"
    r"| am)\s+(?:going with|sticking with|switching (?:to|from|over)|moving (?:to|off|away)|migrating"
    r"|dropping|replacing|standardi[sz]ing on)\b|^(?:ok(?:ay)?|alright|right|yes|yeah|good|great|fine"
    r"|perfect|sounds good)?[\s,.!:–—-]*let(?:'|’)?s\s+(?:just\s+)?(?:go with|stick with|use|keep|drop"
    r"|switch to|settle on|stay with|move|freeze|tag|release|ship|pin|rename|publish|merge|split"
    r"|set)\s+(?!\w+ing\b|it\b|this\b|that\b|on\b|out\b|in\b|away\b|forward\b|up\b|off\b)\S+"
    r"|\bthat(?:'s|’s| is) (?:settled|decided|final|agreed)\b|\bwe\s+(?:won(?:'|’)t|will not)\s+(?:support"
    r"|ship|publish|add|release|accept|allow|maintain|merge|rename|use)\s+(?!it\b|that\b|this\b|you\b)\S+"
    r"|^(?:final )?decision\s*[:–—]|^decided\s*[:–—]|\bit(?:'s| is|’s) (?:decided|settled|agreed)\b"
    r"|\bthe decision (?:is|was)\b|\bwir (?:haben (?:uns )?|sind )?.{0,60}\b(?:entschieden|beschlossen"
    r"|geeinigt)\b|\b(?:hemos|he) (?:decidido|acordado|elegido)\b|\bdecidimos\b",
    _I,
)

AGREED = lazy(
    r"\bwe (?:have |'ve |’ve )?(?:decided|agreed|settled on|ruled out)\b|\bthe (?:open )?question is settled\b"
    r"|^decision\s*[:–—]",
    _I,
)

PREFERENCE = lazy(
    r"\b(?:i|we)(?:'d|’d| would)?\s+(?:(?:really|absolutely|just|still|also|generally|usually|personally"
    r"|strongly|much|always|truly|totally|kinda|kind of)\s+)*(?:prefer|hate|loathe|can(?:'|’)t stand"
    r"|cannot stand|adore|dislike|enjoy|love|don(?:'|’)t (?:like|enjoy|eat|drink)|like)\s+(?!(?:that|this"
    r"|these|those|it|them|how|what|when|your|you|the (?:idea|sound|way|look|plan|first|second|new)"
    r"|to (?:know|see|hear|thank|say|ask|add|think)|hearing|seeing|talking|chatting|if|(?:the|all|to (?:try"
    r"|hear|help|check|visit|join|be|make|do|get|go|come|chat|talk|meet|catch|support))|helping|being)\b)\w+"
    r"|\b(?:my|our) (?:(?:all-time|absolute|personal)\s+)?(?:favou?rite(?! (?:part|moment)s?\b)|preference"
    r"|preferred)\b|\bi(?:'m|’m| am)\s+(?:(?:a\s+)?(?:big|huge|total|lifelong)\s+fan of|(?:really\s+"
    r"|super\s+|totally\s+)?into\s+\w+|allergic to|vegan|vegetarian|pescatarian|lactose|gluten|intolerant)\b"
    r"|\bich (?:bevorzuge|mag (?:kein\w* )?|hasse)\b|\bprefiero\b|\bme (?:gusta|encanta)n?\b|\bodio\b",
    _I,
)

CORRECTION = lazy(
    r"^(?:(?:oh|ah|hmm|sorry|wait|ok(?:ay)?|so)[,\s]+)*(?:no|nope|nah|actually|correction|wrong|not quite"
    r"|scratch that)\b\s*[,:;.!–—-]+\s*(?=(?:\S+\s+){3,}\S+)(?=.*(?:\b(?:is|are|was|were|means?|should|not"
    r"|runs?|uses?|lives?|has|have)\b|'s\b|\d))|^actually\s+(?=(?:\S+\s+){3,}\S+)|\bthat(?:'s|’s| is"
    r"| was)\s+(?:wrong|not (?:right|true|correct)|outdated|incorrect|out of date)\b|\b(?:is|are)(?:n(?:'"
    r"|’)t| not)\b[^,;]{1,40}[,;]\s+(?:it(?:'s|’s| is)|they(?:'re| are)|but rather|but (?:the|on|in|at"
    r"|by)\b)\s*\S+|(?<!what )\bi meant\b(?=\s+\S+\s+\S+)|\bno longer\b|\b(?:has|have) (?:changed"
    r"|moved) (?:from|to)\b|\bchanged from\b.{1,60}\bto\b|^(?:nein|falsch|korrektur)\s*[,:;–—-]"
    r"|\bnicht mehr\b|\bya no\b"
    r"|^(?:the|our) (?:[\w.-]+ ){1,4}(?:goes|moves|runs|listens|lives|stays|is) (?:\S+ ){1,5}instead[.!]*$"
    r"|\b(?:the|our) (?:[\w.-]+ ){1,4}(?:moves|is moved|has moved|shifts|slips|is postponed) (?:too,? |back )?to "
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d)",
    _I,
)

TASK = lazy(
    r"^(?:[-*]\s*)?(?:\[ \]|todo|to-do|to do|action items?|fixme|open task"
    r"|next step)\s*(?:[:–—\]-]\s*)?(?=\S+\s+\S+)|\b(?:remind me|don(?:'|’)t let me forget)\s+to\b|\b(?:we"
    r"|i)(?:'ve|’ve)?\s+(?:still\s+|also\s+)?(?:need|have)\s+to\s+(?!say|find a|keep|volunteer|see|admit"
    r"|know|ask|agree|be honest|think|see|hear|understand|confess|tell|laugh|go now|run now|run\b)\w+"
    r"|\bi(?:'ll|’ll| will| promise to| promised to)\s+(?!be (?:there|back|fine|ok|here|honest)|let you"
    r"|keep (?:you|that)|try|never|always|definitely check|check it|see\b|think\b|admit\b|say\b|tell\b"
    r"|have to|need to|go (?:with|now)|use\b)\w+|\bstill (?:open|to do|missing|(?:needs?|has|have) to be"
    r"|todo|pending)\b|\bneeds to (?:be )?(?:done|finished|fixed|renewed|updated|reviewed|deployed|merged"
    r"|removed|written|replaced)\b|\b(?:is|are) due (?:on|by|in|next|tomorrow)\b|\bdeadline\b.{0,20}\b(?:is"
    r"|on|:)|\bich muss (?:noch|morgen)\b|\bwir müssen noch\b|\btengo que\b|\btenemos que\b",
    _I,
)
TIME_AHEAD = lazy(
    r"\b(?:tomorrow|tonight|later today|this (?:evening|afternoon|weekend|week|month|summer|winter|fall|spring)"
    r"|next (?:week|month|year|weekend|summer|winter|fall|spring|mon\w*|tue\w*|wed\w*|thu\w*|fri\w*|sat\w*|sun\w*)"
    r"|(?:on|by|until|before|this|come) (?:mon|tues|wednes|thurs|fri|satur|sun)day|by (?:the )?end of|by eod"
    r"|in \w+ (?:days?"
    r"|weeks?|months?|hours?)|in an hour|morgen|mañana|soon as)\b|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b(?:on|by|until|before|in) (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b",
    _I,
)
AMOUNT = lazy(
    r"[$€£]\s?\d|\b\d{1,2}(?::\d\d)?\s?(?:[AaPp][Mm]\b|[AaPp]\.[Mm]\.)|\b\d+(?:\.\d+)?\s?%|\b\d{1,2}(?:st|nd|rd|th)\b"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}\b"
)
"""A sum, a time of day, a share or a day of a month."""

_KIN = (
    r"wife|husband|partner|spouse|girlfriend|boyfriend|fianc[ée]+|daughters?|sons?|kids?|child(?:ren)?|mom|mum"
    r"|mother|dad|father|parents|brothers?|sisters?|twins?|grandm\w+|grandpa\w*|grandfather|aunt|uncle|cousins?"
    r"|nieces?|nephews?|dogs?|cats?|pets?|pupp(?:y|ies)|kittens?|boss|manager|colleague|roommate|best friend"
    r"|doctor|therapist|landlord"
)
LIFE = lazy(
    rf"\b(?:my|our)\s+(?:\w+\s+){{0,2}}?(?:(?:{_KIN})|(?:name"
    r"|birthday|job|company|employer|team|startup|store|shop|studio|business|blog|channel|band|car|house"
    r"|apartment|flat|hometown|address|phone|e-?mail|username|handle|website|degree|major|thesis|salary"
    r"|budget|goal|visa|wedding|anniversary|appointment|interview|exam|flight|trip|school|university"
    r"|diagnosis|allerg\w+|laptop|time ?zone))\b(?:,?\s+[A-Z]\w+,?)?\s+(?:is|are|was|were|has|have|had|got"
    r"|just|lives?|works?|loves?|likes?|starts?|started|began|turned|turns|passed|died|opened|moved|bought"
    r"|runs?|goes|went|recommended|gave|taught|plays?)\b|\bi(?:'ve|’ve)?\s+(?:also\s+)?(?:have|had|got"
    rf"|adopted|own)\s+(?:\w+\s+){{0,3}}(?:{_KIN})\b|\bi(?:'ve|’ve"
    r"| have)?\s+(?:also\s+|just\s+|recently\s+|currently\s+|now\s+|always\s+)*(?:live[sd]?"
    r"|work(?:ed)? (?:as|at|for|in|on)|moved (?:to|from|here|in)|was born|grew up|studi?ed|study|graduated"
    r"|teach|majored|am from|come from|volunteer(?:ed)?|retired|got (?:married|engaged|divorced|promoted"
    r"|hired|laid off|fired|accepted|diagnosed|a (?:job|new|dog|cat|promotion|scholarship))|started (?:a|my"
    r"|at|working|learning|taking|doing|playing|running|painting|writing)|signed up|enrolled|joined|quit"
    r"|lost my|bought|adopted|published|won(?!['’])|founded|opened (?:a|my)|finished (?:my|a|the)"
    r"|completed)\b",
    _I,
)

STATES = lazy(
    r"\b(?:is|are|was|were|runs?|listens?|lives?|sits?|points?|uses?|reads?|writes?|stores?|needs?|requires?"
    r"|depends?|expects?|has|have|deployed|hosted|called|named|owned|owns|maintained|maintains|responsible"
    r"|in charge|defaults?|expires?|starts?|ends?|takes?|costs?|supports?|belongs?|connects?|serves?"
    r"|exposes?|contains?|returns?|goes|ships?|targets?|pinned|set to|set at|scheduled|located|lies|läuft"
    r"|liegt|heißt|ist|está|corre|usa|escucha|moved|renamed|added|created|replaced|upgraded|bumped|removed"
    r"|configured|changed|switched|rotated|migrated|fixed|implemented|published|released|tagged|installed"
    r"|enabled|disabled|wrote|put|split|extracted|deleted|stays?|collides?|conflicts?|clash(?:es)?)\b|=|:\s",
    _I,
)
IDENTIFIER = lazy(
    r"https?://\S+|\b[\w.+-]+@[\w-]+\.\w+|\b[Pp]ort\s+\d{2,5}\b|:\d{4,5}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@*-]+|\b\w[\w-]*\.(?:py|ts|tsx|js|jsx|go|rs|java|rb|toml"
    r"|ya?ml|json|md|sql|sh|env|lock|cfg|ini|tf|proto|css|html|kt|swift|c|h|cpp|csv|txt|xml|conf)\b"
    r"|\bv?\d+\.\d+(?:\.\d+)*\b|\bv\d+\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[a-z0-9]+(?:_[a-z0-9]+)+\b"
    r"|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b[a-z]+(?:-[a-z]+)*-\d+[\w-]*\b|`[^`\n]{2,80}`|\b[A-Z]{2,}-\d+\b"
    r"|#\d{1,6}\b|\b[0-9a-f]{7,40}\b(?=.*[0-9])|\b\d{4}-\d{2}-\d{2}\b|\b(?:owned|maintained|managed|run"
    r"|led) by (?:the )?[A-Z]\w+|\b(?!It |That |This |He |She |They |Who |What )[A-Z][a-z]+ (?:owns"
    r"|maintains|is responsible for|is in charge of) (?:the|all|every|our)\b|\b0x[0-9A-Fa-f]{4,}\b"
    r"|\b\d+(?:[.,]\d+)?\s?(?:%|ms|s|sec(?:onds?)?|min(?:utes?)?|hours?|days?|weeks?|months?|years?"
    r"|[GMKTgmkt][Bb]|[GM]iB|USD|EUR|usd|eur|dollars?|euros?|rows|users|requests?|replicas?|workers?|retries"
    r"|km|miles|kg|lbs|pounds)\b|[$€£]\s?\d",
)
_MAY_IDENTIFY = lazy(
    r"[\d/@_`]|[a-z][A-Z]|\w\.\w|\b(?:owned|maintained|managed|run|led) by "
    r"|\b(?:owns|maintains|is responsible for|is in charge of) "
)

ASKS = lazy(
    r"[?？][\"'”’)\]]*\s*\Z|^(?:and |so |but |ok(?:ay)?,? |hey,? |hi,? |also,? |well,? )*(?:what|how|why|when"
    r"|where|who|which|whose|can|could|would|will|should|shall|do|does|did|is|are|am|was|were|have|has|any"
    r"|may)(?:n't|n’t|'s|’s|'re)?\s+(?:i|you|we|it|the|this|that|there|they|he|she|a|an|my|our|your|to|about"
    r"|if|else|one|many|much|long|is|are|do|does|did|would|should|can|could|will|advice|ideas|suggestions"
    r"|tips|chance)\b|^(?:i(?:'m| am|’m) (?:wondering|curious|not sure|unsure|trying to (?:decide|figure"
    r"|understand|find out))|i wonder|tell me|explain|describe|give me|show me|help me|suggest|list)\b",
    _I,
)
SUPPOSES = lazy(
    r"\b(?:if|maybe|perhaps|might|possibly|probably|suppose|supposing|imagine|assuming|hypothetical\w*"
    r"|what if|let(?:'|’)?s say|say we|could|would have|wouldn(?:'|’)t|unless|whether|i guess|i think"
    r"|not sure|wondering|considering|thinking (?:about|of)|in theory|wish|for example|for instance|e\.g\."
    r"|hopefully|i hope|vielleicht|wenn|falls|quizás|tal vez|si\s+\w+amos)\b|\bwould\b(?!\s+(?:rather|prefer"
    r"|love|hate))|\bi(?:'d|’d)\s+(?!rather|prefer|love|hate)",
    _I,
)
REPORTS = lazy(
    r"\b(?:he|she|they|someone|people|docs?|documentation|article|post|readme|error|log|output"
    r"|message)\s+(?:says?|said|told|claims?|claimed|thinks?|wrote|reads?)\b|\baccording to\b|\bquote\b"
    r"|\bas .{1,20} (?:says|said|put it)\b|\b(?:joked|pretended|dream(?:ed|t)|imagined)\b"
    r"|,\s*(?:said|says|wrote|joked|claimed)\b|\b(?:nobody|no one|noone) ever\b|\bjust kidding\b"
    r"|\byeah,? right\b|\b(?:in|from) (?:the|a|an|my|your|his|her|our|this|that) (?:[\w-]+ ){0,2}(?:novel"
    r"|story|book|film|movie|game|show|series|episode|play|chapter|tutorial|example|dream|nightmare"
    r"|fairy tale|joke|exercise|scenario|lecture|podcast|comic|sitcom|musical|poem|fanfic)(?=\s*,|\s+(?:we|i"
    r"|the|he|she|they|everyone|somebody|someone)\b)",
    _I,
)
LEANS = lazy(
    r"^(?:(?:and|but|so|also|then|yes|yeah|no|nope|actually|ok(?:ay)?|well|oh)[,\s]+)*(?:it|this|that|these"
    r"|those|they|them|he|she|him|her|its|their|his|there|the (?:same|former|latter|other|first|second)|both"
    r"|either|neither|one of them|es|das|er|sie|eso|esto)\b|^(?:on|in|at|for|with) (?:my|our"
    r"|the) \w+,? (?:it|this|that|they)\b",
    _I,
)
"""Openings of a sentence about a thing named before."""

AHEAD = lazy(
    r"\b(?:will|shall|going to|gonna|let(?:'|’)?s|have to|has to|needs? to|must|should|promised?|due"
    r"|deadline|todo|remind|moves?|freeze|i still need)\b|(?:'|’)ll\b",
    _I,
)
BEHIND = lazy(r"\b(?:was|were|had|did|said|told|asked|went|came|last|yesterday|ago|been)\b", _I)
"""Signs of a statement about the past or the future."""
_LIGHT = (
    r"(?:and|but|so|also|then|please|pls|ok(?:ay)?|yes|yeah|no|well|oh|always|never|ever|still|just|only"
    r"|really|now|today|i|we|you|let|me|us|do|not|dont|must|should|shall|will|would|can|could|have|has|had"
    r"|need|needs|want|got|going|gonna|to|be|am|are|is|from|on|remember|make|sure|try|remind|promise|promised"
    r"|decided|agreed|prefer|like|would)(?:['’](?:s|t|ll|d|ve|re|m))?(?:n['’]t)?"
)
LEANS_ON = lazy(
    r"^(?!(?:besides|apart|aside|after|before|despite|because|like|given|since|than|all|for|with|in|on"
    rf"|at)\b)(?:(?:{_LIGHT}|don['’]t|won['’]t)[,:\s]+)*(?:\w+ (?:to )?)?\w+ (?:(?:to|on|with|at|up|out|off"
    r"|for|about|in|of|by) )?(?:(?:it|them)\b(?! (?:when|if|that|is|was|would|will)\b)(?!['’]s)|(?:that"
    r"|this|these|those)\b(?=\s*(?:[.,;:!]|\Z|(?:when|if|before|after|in|on|by|for|from|to|at|with|and|or"
    r"|but|until|because|since|too|again|now|then|today|tomorrow|here|instead|myself|later|soon|first)\b)))",
    _I,
)
"""A sentence about "it" or "that" without an earlier noun for the pronoun."""

TURNS_TO_ASK = lazy(
    r"[,;–—]\s*(?:(?:and|so|but|because|since)\s+(?:now\s+|also\s+|then\s+)?)?(?:(?:i(?:'m|’m| am"
    r"| was)\s+(?:(?:kinda|kind of|really|just|also|still)\s+)*(?:wondering|curious|not sure|unsure|debating"
    r"|stuck|worried|looking for|trying to|struggling|hoping|concerned|confused|having trouble))"
    r"|i (?:want(?:ed)? to|need (?:help|to)|don(?:'|’)t know|would like|guess|feel like|hope)|what|how|which"
    r"|where|when|why|who|can|could|would|will|should|do|does|is|are|any|right|maybe|given|considering"
    r"|especially)\b",
    _I,
)
"""Words from which on a sentence asks or doubts, after a statement."""
_DID = (
    r"\bi(?:'ve|’ve| have)?\s+(?:also\s+|now\s+|just\s+|already\s+)*(?:moved|renamed|added|created|replaced"
    r"|upgraded|bumped|removed|configured|changed|switched|rotated|migrated|fixed|implemented|published|released"
    r"|tagged|installed|enabled|disabled|wrote|put|split|extracted|deleted|set|updated|found|pinned|wired|introduced"
    r"|deployed|merged)\b"
)
DID = lazy(_DID, _I)
"""A person's own last action at work, which states no lasting fact."""
REPORTED = lazy(
    rf"{_DID}|\bnow (?:uses?|returns?|runs?|lives?|reads?|writes?|listens?|points?|has|takes?|requires?"
    r"|expects?|fails?|passes)\b|\b(?:listens|runs|lives|is set|is configured|are stored|is stored"
    r"|is defined|are defined|is pinned|defaults) (?:on|in|at|to)\b",
    _I,
)
BEGINS_REPORT = lazy(
    r"^(?:Moved|Added|Renamed|Removed|Replaced|Fixed|Created|Updated|Changed|Extracted|Deleted|Split|Set)\b"
)
"""Openings of an agent's report of work or of a project's state; its other sentences advise or explain."""
PLACE = lazy(
    r"(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@*-]+|\b\w[\w-]*\.(?:py|ts|tsx|js|jsx|go|rs|java|rb|toml"
    r"|ya?ml|json|md|sql|sh|lock|cfg|ini|tf|proto|css|html|kt|swift|c|h|cpp)\b"
)
"""A path or the name of a file."""
ADVISES = lazy(
    r"\b(?:you|your|can|should|would|could|may|let(?:'|’)?s|we|try|consider|helps?|ensures?|allows?"
    r"|typically|usually|generally)\b|\]\(https?:|\\text|\^\{|^\W*\*\*|\*\*\s*:",
    _I,
)

SHOWN = lazy(
    r"\b(?:see above|pics?|photos?|pictures?|snapshots?|check (?:it|this|them) out|take a look|here(?:'s|’s))\b", _I
)
"""Signs of a text about something that is shown beside it."""
STILL = lazy(r"\bstill\b|\b(?:todo|to-do|fixme|remind me|action items?)\b|\bdeadline\b|\bdue\b|\[ \]", _I)


def has_identifier(said: str) -> bool:
    """Return whether a sentence names an identifier, an amount or who is in charge."""
    return may_identify(said) and IDENTIFIER.search(said) is not None


def may_identify(text: str) -> bool:
    """Return whether a text has what every identifier has; most sentences have nothing of it."""
    return _MAY_IDENTIFY.search(text) is not None
