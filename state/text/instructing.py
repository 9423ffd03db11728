"""Which sentence of English sets a standing instruction: one that a later session would want to know.

A sentence is read at each place where a clause begins. An order, a convention of "we" or "this repo", or what is said
of kinds of things ("commit messages", "migrations") sets one where it is general. What points at the work at hand,
reports or recalls, specifies the program that is written, asks, supposes or mocks sets none, whatever else it says.
Whoever says it, and other languages (`polarity`), are not here.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.state.text.everywhere import EVERYWHERE
from memtape.state.text.instructing_words import (
    CUES,
    DOING,
    HABITS,
    HELD,
    KINDS,
    LANGUAGES,
    PRODUCT,
    STYLES,
    TALK,
    TASKS,
    TOOLS,
    UNWANTED,
    VERBS,
)


def _one_of(patterns: tuple[str, ...]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


_I = re.IGNORECASE
MOST_CHARS = 400
"""A longer sentence is something pasted."""

_WORD = r"[\w`'/.@+#*~%-]+"
_NOT = r"(?:don't|do not|dont)"
_ALWAYS = rf"(?:always|never(?: ever)?|{_NOT} ever|only ever)"
_ONE = (
    r"(?:the|this|that|these|those|it|its|them|him|her|his|their|my|your|me|us|one|both|either|here|there|a|an|another"
    r"|some|more|much|any(?:thing|one)|nothing|option|variant|version|number|step|port|plan|\d+)\b"
)
"""What begins with one of these is a single thing, at hand or to be made."""
_THING = rf"(?!{_ONE}|not\b)(?:{_WORD}\s+){{0,3}}?{_WORD}"
_KIND = rf"(?:(?!{_ONE}|and\b|or\b|not\b|is\b|are\b){_WORD}\s+){{0,3}}?{KINDS}\b"
_PLACE = (
    r"(?:repo(?:sitory|s|sitories)?|projects?|code ?base|code|monorepo|workspace|machine|team|company|test suite|stack"
    r"|front ?end|back ?end|docs|package|services|modules)"
)
_SCOPE = (
    rf"(?:\b(?:in|across|throughout|within|for|on)\s+(?:this|our|the(?: whole| entire)?|(?:all|any|every|each)(?: one)?"
    rf"(?: of)?(?: our| my| the)?|my)\s+(?:\w+ )?{_PLACE}\b"
    r"(?!\s+(?:(?:i|we)(?:'ve|\s+(?:have|had|know|saw|looked|worked|tried))|i\b|that\b|which\b)))"
)
_ALL_OVER = rf"(?:{_SCOPE}|{EVERYWHERE}|\b(?:everywhere|anywhere)\b)"
_HERE = rf"(?:{_ALL_OVER}|\bhere\b)"
_ORDER = (
    rf"(?:(?:please|always|never|also|then|first|only|just|you (?:must|should|have to|need to|always|never))\s+)*"
    rf"(?:(?:{_NOT}|never)\s+(?:ever\s+|just\s+)?)?{VERBS}\b"
)
_HABIT = (
    rf"(?:(?:please|always|only|you (?:must|should)|we(?: always| only)?)\s+)*(?:{HABITS}|(?:{_NOT}|never) {VERBS})\b"
)
_SHOULD = r"(?:must|should|shall|has to|have to|needs?(?: to)?|may only|may not|can only|cannot|gets?|requires?)"
_INSTEAD = r"(?:,?\s+(?:and |but )?(?:not|never|no)\s+|,?\s+(?:instead of|rather than|over|in place of)\s+)"
_NEW = rf"(?:(?:a|an|any|new|every|each|all|something|code)\b|anything\b|(?-i:[A-Z]{{2,}})\b|(?!{_ONE}){_WORD}s\b)"
_OK = r"(?:ok(?:ay)?|approval|permission|review|sign-?off|consent|go-ahead|confirmation|say-so)"
_PERMIT = (
    rf"(?:without (?:asking|checking with|telling|my|a go|permission|approval)|unless (?:i|asked|told)\b|(?:needs?"
    rf"|requires?)"
    rf" my {_OK}\b|(?:ask|check with|confirm with|tell|warn) me first|wait for (?:my|a) (?:{_OK}|yes)\b)"
)
_FROM_NOW = r"(?:from (?:now|here) on(?:wards?| out)?|going forward)"
_WHEN = r"(?:when(?:ever)?|if|before|after|once|while)"
_NOBODY = r"(?!(?:i|we|it|they|he|she|the)\b)"
_ENDS = r"(?:\W*\Z|\s*[,;.(:–—]|\s+(?:please|pls|and|or|in|on|for|everywhere|anywhere|only|throughout|when)\b)"

_LEAD = lazy(
    r"(?:(?:please|pls|plz|also|and|but|so|ok(?:ay)?|oh|hey|hi|btw|by the way|fyi|note(?: that)?|reminder|important"
    r"|again"
    r"|yes|yeah|yep|exactly|great|thanks|thank you|no(?=,)|nope|well|actually|(?:one|another) (?:more )?thing|though"
    r"|general(?:ly)?|in general|as a (?:general )?rule(?: of thumb)?|by default|just|then|(?:as|like) i said|as always"
    r"|listen|look|sorry|ah|alright|right|cool|perfect|nice|good|for the record|for (?:the )?future(?: reference)?"
    r"|in (?:the )?future|next time|(?:can|could|would|will) you|you can|i(?: want| need|'d like| would like) you to"
    r"|i (?:already )?told you|i said|you know|heads up|because|since|seriously|(?:and )?remember(?: that| to|(?=[,:]))"
    r"|make sure(?: that| to)?|be sure to|ensure(?: that)?|try to|take care to|let's settle it)\b[\s,:;.!–—-]*)*",
    _I,
)
"""What may stand before a clause and says nothing of its own."""
_BREAK = lazy(r"[,;:–—(]\s+|\.{2,}\s*|\s-+\s|\s(?=(?:and|but|so|because|since|then)\s)", _I)

_OF_KINDS = (
    rf"need\s+my {_OK}\b",
    rf"{_HERE}\s+(?:are|is|get|must|should|have to)\s+(?:(?:be|all|always|never|not)\s+)*(?:{HELD}|{STYLES}"
    rf"|{LANGUAGES})\b",
    rf"(?:are|get|gets|is)\s+(?:(?:always|never)\s+{HELD}\b|{HELD}\b[^?]*?{_SCOPE})",
    r"(?:(?:always|only|never)\s+)?(?:go|goes|belongs?|lives?(?=(?: \S+){0,6}? here\b| beside| next| alongside))"
    r"\s+(?:in|into|under|next to|inside|on top of|beside|alongside)\s",
    r"(?:(?:in|are|is)\s+)?(?:(?:always|all)\s+)?(?:upper ?case|lower ?case|snake_case|camelcase|pascalcase|kebab-case"
    r"|singular|plural"
    r"|(?:at most|max(?:imum)?|under|below) \d+)\b(?!.*\b(?:are|were)\b)",
    rf"{_SHOULD}(?:\s+(?:not|only|never|always))?\s+(?:have\s+(?!been\b)|start\b|end\b|follow\b|use\b|contain\b"
    rf"|begin\b|go\b"
    rf"|live\b|reference\b|mention\b|link\b|include\b|be\s+(?:{HELD}\b|(?-i:[a-z]*[/<`])))",
    r"(?:must|may|should|can)\s+(?:not|never)\s+(?!(?:be|have)\b)\w+",
    rf"(?:(?:must|should)\s+)?{_ALWAYS}\s+(?:be\s+(?!null|empty|none)\w+|go|contain|use|have|start|end|leave|belong"
    rf"|live|come|include"
    r"|reference|touch|import|depend|rely|commit|change)\b",
    r"(?:is|are)\s+(?:required|mandatory)\s+(?:on|for|in|with|before)\s+(?:all|any|every|each|new|public)\b",
    r"(?:is|are)\s+(?:strictly |always )?(?:forbidden|banned|not allowed|prohibited)\b",
    rf"in {LANGUAGES}(?:\W*\Z|[,;])",
    r"(?:are|is) (?:formatted|sorted|generated|run|built|checked|linted) (?:with|by|via) [^?]*\bhere\W*\Z",
    r"for\s+(?:every|each|all new|any)\b(?!.*\b(?:in|of) (?:the|this)\b)",
    rf".*\b{_FROM_NOW}\W*(?:please\W*)?\Z",
)
"""What is said of kinds of things."""
_OF_US = (
    r"(?:don't|do not|never|only(?: ever)?)\s+(?:use|write|add|mock|commit|squash|rebase|merge|do|allow|ship|put|name"
    r"|call|push|import"
    r"|hand-?\w+|edit|touch|store|log|catch|abbreviate|support|accept|test|format|prefix|inline|deploy)"
    rf"\s+(?!(?!them){_ONE}|well\b|much\b)\S",
    rf"(?:always\s+)?(?:write|name|call|prefix|format|indent|sort|order|group|sign|squash|pin|spell|tag|wrap|document"
    rf"|put|keep)\s+"
    rf"(?:(?:all|our)\s+)*(?:{_KIND}|{STYLES})",
    r"(?:(?:always|only)\s+)?(?:use|write|add|mock|commit|indent|name|store|put|format|test|push|squash|merge|rebase"
    r"|deploy|stick to|follow)"
    rf"\s+(?!{_ONE})[^,;?]*?{_HERE}",
    rf"(?:use|follow|stick to|do)\s+{STYLES}{_ENDS}",
    r"(?:deploy|release|merge|commit|test|build|publish|ship) only (?:from|via|through|with|on|to) \S",
    r"(?:still |only )?(?:support|target|run on)\s+[^,;?]*\d[^,;?]*,? so\b",
)
"""What "we" do."""
_OF_ORDERS = (
    rf"[^?]*?{_PERMIT}",
    r"[^,;?]*\bwhen i (?:ask|say)\b",
    rf"[^,;?]*?\b(?:(?:whenever|every time|each time)\s+(?:you|we|i|something)\b|(?:before|after|with) (?:every|each"
    rf"|any)\s+(?!(?:one|other|file|of)\b)"
    rf"(?:(?:single\s+)?(?:{_WORD}\s+)?{KINDS}\b|{DOING}|push|merge|session|task|edit|build|change|step|response)"
    rf"|(?:in|on|for|to) (?:every|each|any)"
    r" (?:new \w+|commits?|prs?|pull request|branch|session|release|merge|push|deploy|change)\b)(?!\s+in\s+(?:the"
    r"|this)\b)",
    r"[^;?]*,\s*(?:every time|each time|always)\W*\Z",
    rf"[^?]*?(?:{EVERYWHERE}|\b{_FROM_NOW})\W*(?:please\W*)?\Z",
)
"""What makes any order general."""
_ORDERED = (
    rf"{_ORDER}\s(?:{_one_of(_OF_ORDERS)})",
    rf"{_NOT}\s+{VERBS}\s[^?]*\b(?:ever|under any circumstances)\W*\Z",
    rf"(?:always\s+)?(?:ask|check with|consult|tell|warn|confirm with)\s+(?:(?:me"
    rf"|us)\s+)?(?:first\s+)?before\s+(?:you\s+)?"
    rf"(?:{VERBS}|{DOING})(?:\W*\Z|\s+{_NEW}|\s+to (?:main|master|production|prod)\b)",
    r"(?:always\s+)?(?:ask|check with|consult|ping) (?:me|us) before\b",
    # How answers are to be.
    r"be (?:very )?(?:concise|brief|terse|succinct)\b",
    rf"(?:answer|reply|respond|speak|talk|write"
    rf"|communicate)(?: to)?(?: me)?\s+(?:only\s+)?in\s+{LANGUAGES}\b(?!\s+(?:and )?then\b)",
    rf"keep\s+(?:(?:all|your|our)\s+)*{_KIND}\s+(?:\w+\s+)?(?:to|concise|terse|short|brief|small|simple|pure|sorted|under|below|at"
    rf"|within|focused"
    r"|atomic|flat|alphabetical|in sync|up to date|out of|free of|minimal|private)\b",
)
_CONDITIONS = (
    rf"{_WHEN}\s+(?:(?:you|we|i)(?:'re| are)?\s+)?(?:ever\s+)?(?!(?:finish|continue|proceed|start|stop|get|see"
    rf"|done)\b)(?:{VERBS}|{DOING})\b"
    rf"(?:\s+(?:up|in|out|on|to|into|from))?(?:\s+{_NEW}[^,;:]*[,:]\s*{_NOBODY}{_ORDER}"
    rf"|[,:]\s*{_ORDER}\s+(?:(?!{_ONE})|the (?:linter|formatter|tests|test suite|type checker|changelog|docs)\b))",
    rf"(?:whenever|every time|each time|any ?time)\s+(?:you(?! (?:need|want|like|feel|are|can|have)\b)|we|i|a|an"
    rf"|something|there)\b[^,;]*[,:]\s*{_NOBODY}{_ORDER}",
    rf"(?:if|when)\s+(?:an?|any)\s[^,;?]*?(?:,\s*|\s)(?:always |never |please |just )*{VERBS}\s+(?!it\b|that\b|this\b"
    rf"|the\b|a\b|an\b)\w",
    rf"when you (?:commit|push|merge|deploy|release|search),? {_ORDER}",
    rf"(?:if|when)\s+(?:(?:something|anything)(?: in [^,;]+)?|the (?:spec|task|ticket|requirement)\w*) (?:is|are|isn't"
    rf"|seems) (?:unclear|ambiguous|not clear|missing)\b[^?]*?{VERBS}\b",
    rf"(?:if|when)\s+(?:you(?:'re| are)\s+)?(?:unsure|in doubt|not sure|uncertain)\b[^,]*,\s*{_ORDER}",
    rf"(?:before|after)\s+(?:every|each|any)\s+[^,;]+,\s*{_ORDER}",
    rf"{_WHEN} [^,;?]{{3,60}}?\s(?:always|never) {VERBS}\b",
    rf"(?:in|for) (?:any|all|every|each)\s+{_KIND}[^,;?]*?,?\s(?:please\s+)?{_HABIT}",
)
"""What is done whenever something comes again."""
_ANYWHERE = (
    rf"(?:(?:you|we)\s+(?:(?:should|must|shall|need to|have to|are to|can|may|do)\s+)?|let's )?{_ALWAYS}\s+(?:just "
    rf"|simply |again )?"
    rf"(?!(?:need|have|think|try|be|go|say)\b){VERBS}\b(?!-)",
    rf"{_KIND}\s+(?:{_one_of(_OF_KINDS)})",
    rf"we\s+(?:{_one_of(_OF_US)})",
    *_ORDERED,
    *_CONDITIONS,
    # What is unwanted everywhere, or wanted instead of another.
    rf"(?:no|nothing)\s[^?]*?{_PERMIT}",
    rf"no\s+(?:more\s+)?{UNWANTED}(?:\W*(?:please|pls|thanks)?\W*\Z|[,.;]|\s+(?:please|pls)\b|\s+(?:in|on|to|for"
    rf"|without|at|inside|anywhere|ever|and)\b"
    rf"(?!\s+(?:(?!the\b|this {_PLACE}\b){_ONE}|the (?!code|repo|docs|main|commits|readme|database))))",
    rf"{_NOT} (?:use|add|install|import|run|call) (?:{TOOLS}|{UNWANTED})\b(?!.*\b(?:in|for|on) (?:the|this|it)\b)",
    rf"(?:only |exactly )?(?:one|a single) {_WORD}(?: {_WORD})? per (?:file|commit|pr|pull request|ticket|issue|branch"
    rf"|module|test|line|change)\b",
    rf"all new {KINDS} (?:in|with|under|go|goes|uses?)\s",
    rf"so (?:please )?{_NOT} (?:use|add|introduce|write|create|log|commit|import|mock|call) (?:{TOOLS}"
    rf"|{UNWANTED})\b(?!.*\b(?:in|for|on|to) (?:the|this|it|my)\b)",
    rf"no\s+(?:{_WORD}\s+){{1,3}}?(?:in|on|to|for)\s+{KINDS}\b",
    rf"(?:{_ALWAYS}\s+)?(?:use\s+)?{TOOLS}(?: please| pls)?{_INSTEAD}{TOOLS}(?:\W+{_HERE}|\W*\Z|\W+(?:please|pls)\b)",
    rf"{TOOLS} for {_WORD}(?: tests?)?, (?:and )?{TOOLS} for {_WORD}",
    rf"(?!{_ONE}|reply|answer|respond|do\b){_WORD} only (?:with|via|through)\s+(?!{_ONE})\S",
    # What this project and each of a kind in it does.
    rf"(?:this|our)\s+(?:\w+ )?{_PLACE}\s+(?:only\s+|always\s+)?(?:uses|follows|sticks to|squashes|rebases|requires"
    rf"|enforces|does not|doesn't|never|is on (?!fire))\b",
    r"(?:nothing|no ?one|nobody)\s[^,;?]*?\b(?:gets?|is|goes)\s+(?:ever\s+)?(?:committed|comitted|merged|pushed"
    r"|deployed|checked in)\b",
    rf"(?:{LANGUAGES}|(?:british|american|us|uk) spelling|conventional commits)\s+(?:in|for|only in"
    rf"|everywhere)\s+(?:all\s+|our\s+|the\s+)?(?:\w+ and )?(?:{KINDS}|{_PLACE})\b",
    rf"(?:every|each|all|any|new|public|our"
    rf"|exported)\s+(?:{_WORD}\s+){{0,3}}?{KINDS}\s+(?:[^,;?]{{0,40}}\s)?{_SHOULD}\s+(?:not\s+)?"
    r"(?!(?:now|pass\W*\Z|work|be (?:fine|ok|okay|good|enough|easy|fixed|there|able|available|done\W*\Z|ready|visible"
    r"|green"
    r"|passing)|have been|have (?:gone|failed|broken))\b)\w+",
    rf"the\s+(?:changelog|readme|docs|lockfile|schema|openapi\S*)\s+{_SHOULD}\s[^?]*?\b(?:every|each|any)\b",
)
_AT_START = (
    # "Use X, not Y", "use X in this repo", and known ways to work.
    rf"(?:{_SCOPE},?\s+|for (?!{_ONE})[^,;:]+?,?\s+)?(?:(?:only|we|you (?:must|should|have to))\s+)*(?:use"
    rf"|run (?:\w+ )?{KINDS} (?:with|in)|write (?:\w+ )?{KINDS} (?:with|in))\s+{_THING}"
    rf"(?:\s+for\s+(?!{_ONE})[^,;]+?|\s+(?:in|on) {_WORD})?{_INSTEAD}(?:use\s+)?{_THING}(?:\W|\Z)",
    rf"(?:(?:only|you must|you should)\s+)?use\s+(?:(?!{_ONE})|the standard )(?:{_WORD}\s+){{1,5}}?for\s+(?:all|any"
    rf"|every|each|everything|anything|new)\b",
    rf"(?:only\s+)?use\s+(?!{_ONE})(?:{_WORD}\s+){{1,4}}?(?:for|in)\s+(?:{_WORD}\s+)?(?!test\b){KINDS}(?:\W*\Z|[,;(])",
    rf"(?:only\s+)?use\s+{STYLES}{_ENDS}",
    rf"only use {KINDS} (?:that|with|from)\s",
    rf"only use\s+[^,;]+?\s+(?:in|for|when|inside|under)\s+(?!{_ONE})\S",
    rf"{STYLES}(?:,? (?:please|pls)\b| (?:for|in|on) (?:all )?(?:{_KIND}|js|ts|{TOOLS})(?:\W*\Z|[,;]| please\b))",
    rf"(?:use|run)\s+(?!{_ONE})[^,;?]+?\bwhen you {VERBS}\b(?!\s+(?:{_ONE}))",
    # What holds in a scope.
    rf"(?:{_ALL_OVER}|for (?:anything|everything) (?:in|under|to do with) {_WORD}|for (?!{_ONE}|example\b"
    rf"|instance\b)(?:{_WORD}\s+){{0,3}}?{_WORD})\s*[,:]?\s+(?:bitte\s+)?"
    rf"(?:{_HABIT}\s+(?:(?!{_ONE})|the (?:standard|existing|imperative) )\S|{_ORDER}\s+{_NEW}|no\s+{UNWANTED}"
    rf"|\w+ \w+ verwenden\b)",
    rf"{EVERYWHERE}\s*[,:]?\s*(?:{_HABIT}|{_ORDER}\s+(?!{_ONE})\S|{_KIND}\s+(?:is|are|must|should|go|use)\b|(?:i"
    rf"|we) (?:want|prefer|use|like|always|never)\b|no\s)",
    rf"{_HABIT}\s+(?!{_ONE})[^?]*?{_ALL_OVER}",
    rf"(?:no|(?:i|we)\s+(?:always|never|only|prefer|use|want))\s+[^?]*?{EVERYWHERE}\W*(?:please\W*)?\Z",
    # "From now on", "as a rule".
    rf"(?:{_FROM_NOW}|in (?:the )?future|for (?:the )?future|next time|as a (?:general )?rule(?: of thumb)?|in general"
    rf"|generally|by default)\b[,:]?\s+"
    rf"(?:please\s+)?(?:{_ORDER}|you (?:must|should|can|are to)\b|we (?:only |don't |do not |never |always )?{VERBS}\b"
    rf"|i(?:'d| would)? (?:want|prefer|need|like)\b"
    rf"|(?:no|only|every|all|each|any|if|when|before|after)\s|{_KIND}\s|{STYLES}\b)",
    r"(?:prs|pull requests|(?:new |public )?(?:functions|endpoints|features|commits)|bug ?fixes|releases) (?:need"
    r"|require|get) (?:a|an|at least|one|two)\s",
    r"(?:our )?(?:we're|we are|prod(?:uction)? (?:is|runs)|ci (?:is|runs)|servers? (?:are"
    r"|run)) (?:still )?on [^,;?]*\d[^,;?]*,? so\b",
    r"(?:commit|branch|pr|file|test|import|naming)s? (?:names?|naming|messages?|titles?|format|style|order)\s*:\s",
    r"(?:(?:house |project |team |coding )?(?:rule|convention|policy)|style)\s*:\s*\S",
    # Preferences of kinds of things.
    rf"(?:i|we)\s+(?:always|never)\s+want\s+(?:to\s+(?:see|have|know|be)|you\s+to|an?\b|my\b|{KINDS}\b)",
    rf"i\s+{_NOT}\s+(?:ever\s+)?want\s+(?:you to\s+(?:ever\s+)?{VERBS}\s+)?(?:any\s+)?{UNWANTED}\b",
    rf"(?:i|we)\s+(?:(?:really|strongly|generally|usually|always|much|also|still)\s+)?prefer\s+(?!{_ONE}"
    rf"|\w+ing\b)(?:[^,;?]*?(?:{KINDS}|{STYLES}|{TALK})\b|{_THING}\s+over\s)",
    rf"(?:i|we)(?:'d| would)\s+(?:much |always )?(?:rather|prefer)\s+(?:(?:have|use|see|get|you use"
    rf"|you used)\s+)?(?!{_ONE})(?:{_WORD}\s+){{0,4}}?(?:{KINDS}|{STYLES}|{TALK})\W*\Z",
    r"i(?:'d| would) (?:rather|prefer(?: it if)?|like it if)\s+you\s+[^,;?]+?\b(?:when(?:ever)?|if|every time"
    r"|before)\b",
    rf"(?:but |and |so )?(?:generally|in general|usually|by default),?\s+i\s+want\s+{_KIND}\s+(?:{HELD}|kept"
    rf"|separate)\b",
    rf"(?:{_SCOPE},?\s+)?(?:(?:strongly|generally|always)\s+)?(?:prefer\s+(?!{_ONE})|avoid\s+(?!{_ONE}|breaking\b"
    rf"|doing\b))\S",
    # What is done never, and is no single thing.
    rf"(?:you (?:must not|mustn't|may not|should not|shouldn't|are(?: not|n't) allowed to|'re not allowed to|can't"
    rf"|cannot)|{_NOT})\s+(?:ever\s+|just\s+|simply\s+)?"
    rf"(?!(?:do|be|go|think|try|wait|look|trust|assume|let|have)\b|{VERBS}\s+(?:code|tests?|changes|files?|features"
    rf"|back|up|out|off|too|so|away|about|with|to|for|as|of|over)\b(?! (?:you|that|outside)\b)[^,]*\Z)"
    rf"{VERBS}\s+(?!(?:{_ONE}|any (?:code|changes|tests|files)\b|code\b|so\b|too\b|back\b|up\b|out\b|off\b|away\b"
    rf"|in\b))\S"
    r"(?![^?]*,\s*(?:just|only|but|i|it|we|they|he|she)\b|[^?]*\s(?<!of )(?<!for )(?:the|my|your|his|their|here)\b)",
    rf"(?:{_NOT}|you must not|you may not|you should not)\s+{VERBS}\s+[^,;?]+?\s+(?:(?:in|inside|to|from|under|for"
    rf"|into) (?:{KINDS}(?:\W*\Z|[,;(])|{_WORD}/(?:\W|\Z))"
    r"|by hand\b|manually\b|(?:directly )?(?:to|on|into) (?:main|master|develop|production|prod)\b)",
    rf"(?:{_NOT}|never)\s+(?:touch|edit|change|modify|delete|move|rename|import)\s+the\s+{_WORD}s\s+(?:marked|tagged"
    r"|labell?ed|called|named|under|below|starting with|ending in)\s",
    rf"stop\s+(?:always\s+)?{DOING}\s+(?!{_ONE}|tests\b(?! for)|code\b)\S+(?!.*\b(?:in|to|from|for|on) (?:the|my)\b)",
    r"stop asking (?:me )?(?:if|whether|for)\b",
    r"(?:run|do|test|build) everything (?:through|via|with|in|inside)\s",
    rf"stop\s+(?:always\s+)?(?:apologi[sz]ing|{DOING}\s+[^,;]*\b(?:all the time|every time|everywhere|to every"
    rf"|in every|at the end of every|after every|so much)\b)",
    rf"(?!\w+ (?:all|every) (?:tests?|files?|code|imports?)\b|write (?:\w+ )?tests with)(?:write|format|name|sort"
    rf"|order|prefix|group|indent|sign|put|place|store"
    rf"|squash|document|pin|wrap|log)\s+(?:your\s+)?(?:(?:all|our|new|public)\s+)*{_KIND}\s+(?:in|with|without|as|into"
    rf"|under|at|next to|by|before|after|alphabetically|like|using"
    rf"|according)\b(?!\s+(?:this|that|these|those|my|{_WORD}\.(?:py|ts|js|go|rs)\b))",
    r"(?:follow|stick to|adhere to)\s+(?:the\s+|our\s+)?(?:[\w-]+\s+){0,2}(?:style ?guide|conventions?"
    r"|coding standards?|guidelines|(?:code |coding )?style)\b(?!\s+(?:of|in)\b)",
    rf"remember to\s+(?!be\b|do\b|take\b|go\b){VERBS}\s+(?!{_ONE})\S",
    r"(?:add|put|save) (?:this|that) (?:to|in|into) (?:claude\.md|agents\.md|your (?:memory|rules|instructions))\b",
)
_MARKED = (
    r"\b(?:is|are|gets?) (?:auto-?)?(?:generated|overwritten)\b.*\bedit\b.*\binstead\W*\Z|,\s*nowhere else\W*\Z",
    r"\bonly (?-i:[A-Z])[a-z]+ (?:may |can )?(?:merges?|publish(?:es)?|pushes|push|tags?|releases?|deploys?"
    r"|approves?)\b",
    r"\bmust (?:never|not ever|under no circumstances) be (?:edited|touched|modified|changed|committed|deleted|removed"
    r"|logged|exposed"
    r"|checked in|pushed|renamed|rewritten|overwritten)\b",
    r"^(?!it\b|that\b|this\b)[^,;?]{2,60}\s(?:is|are)\s+(?:strictly |always )?off[- ]limits\b",
    r"\b(?:house rule|team (?:rule|convention)|our (?:convention|style|rule)|(?:hard|strict|standing) rule"
    r"|goes for everything in"
    r"|(?:isn't|isnt|is not) our style)\b",
)
_NONE = (
    # What points at the work at hand or at a moment.
    rf"\b(?:this|these|those)\s+(?!(?:{_PLACE}|app|to (?:claude|agents|your)|kinds?|sort|way|is|means|server|computer"
    rf"|laptop|product|library|org|organi[sz]ation)\b)\w+",
    r"\b(?:use|touch|run|change|edit|with|in|for|on|into|from|like|call|try|take|fix)\s+that\s+(?!(?:you|we|the|is"
    r"|are)\b)\w+",
    r"\bthe\s+(?:first|second|third|fourth|last|other|latter|former|next|previous|new|old|one|ones|same|above"
    r"|following|current)"
    r"\b(?!\s+(?:line|letter|word|person|commit))(?=[^,]*\Z)(?<!after the )(?<!to the next)|\b(?:option|variant"
    r"|approach|version)\s+(?:[a-d]|\d|one|two|three)\b",
    r"\b(?:for now|for the moment|for the time being|right now|atm|at the moment|this time|(?:just )?this once"
    r"|just once|for once|today|tonight|tomorrow"
    r"|yesterday|until|till|for a (?:while|bit)|while i(?:'m| am)|temporarily|(?:first|quick) draft|throwaway"
    r"|prototype|spike|for the demo)\b|(?<!from )(?<!by )(?<!every )\bnow\b(?! on)",
    # What others say, or was said and is no more.
    r"\b(?:he|she|they|someone|somebody|people|docs?|documentation|article|post|readme|error|log|output|message|guide"
    r"|page|book|colleague|collegue|boss|linter"
    r"|compiler|lead|team|cto|manager|reviewer|coworker|teammate|teacher|professor|blog|tutorial|spec|standard|eslint"
    r"|pylint|ruff|mypy|claude|copilot|gpt|legal|qa|customer|client|guidelines|(?-i:[A-Z][a-z]+))\s+"
    r"(?:(?:of|from|at|by|in)\s+\S+\s+)?(?:(?:also|always|once|just|explicitly|really|has|have|had"
    r"|even)\s+)?(?:keeps?\s+)?(?:says?|said|told|tells|telling|claims?|claimed|thinks?|thought|wrote|wants?|wanted"
    r"|states?|insists?|insisted"
    r"|recommends?|suggests?|suggested|complains?|asked|prefers?|likes|believes?|commented|argues?|swears)\b"
    r"|\baccording to\b|(?-i:[A-Z])\w+'s (?:style ?guide|rules?|conventions?|policy|guidelines)\b|\bin the style of\b"
    r"|(?<!\bi )\b(?:says|said|claims|claimed|told|insists|recommends|suggests)\b",
    r"\b(?:had|have had|was|were) (?:a|the|this) (?:rule|policy|convention|habit)\b|\bused to\b|\bwas when\b|\b(?:last"
    r"|old|previous|former) (?:company|job|team|employer|project)\b"
    r"|\bback (?:then|when|in)\b|\bany ?more\b|\bno longer (?:true|applies|needed|the case)\b|\bi said (?:never|always"
    r"|not)[^,]*, but\b|\bscratch\b|\b(?:forget|ignore|drop) (?:the|my|what)\b"
    r"|\b(?:in my experience|growing up|years ago|last (?:week|month|year))\b.*\b(?:was|were|had)\b",
    # What is asked, supposed or mocked.
    r"\b(?:maybe|perhaps|probably|possibly|i guess|(?:i'm|am|we're) not sure|wonder(?:ing)?|might|what if|how about"
    r"|in theory|supposedly|apparently|i think|do you think"
    r"|(?<!you )should (?:i|we)|shall (?:i|we)|wouldn't it|if (?:i|we|it) (?:were|was|had)|i(?:'d| would) (?:say"
    r"|never)|i wish|imagine|suppose|hypothetically|i dunno)\b",
    r"^(?:do|does|did|is|are|am|was|were|has|have|had|why|what|how|which|who|where|whose|should|shall|must)\s+(?!not\b"
    r"|n't)\w+(?<!do not)(?<!must not)",
    r"^(?:(?:oh|ah|yeah|wow|sure|right|great|of course|yes)[,\s]+){2,}|^(?:oh|wow|sure|of course|haha)\b[,\s]"
    r"|\b(?:great|good|nice|brilliant|lovely|genius|fantastic|wonderful) (?:idea|job|plan|one|work)\b"
    r"|\bwhat could (?:possibly )?go wrong\b|🙄|😂|🙃|\s/s\W*\Z|\bsarcasm\b|\bwhile you're at it\b",
    # A task that speaks of what always or never is, and what is specified of what is written.
    rf"^(?:(?:please|pls|ok(?:ay)?|then|and|now|also|can you|could you|would you|you can|i want you to|i need you to"
    rf"|let's|next|yes|no|first)[\s,]+)*{TASKS}\b"
    r"(?! sure (?:you|to|we)\b)(?! this to).*(?:\b(?:that|which|who|so|where|how|why|whether|to say|saying|says|called"
    r"|function|class|script|rule|lint|config|template|hook|button|parser"
    r"|it should|it must|it (?:always|never)|must|should)\b|[\"“`]|QUOTED)",
    r"^(?:\w+[\s,]+)?(?:add|write|create|implement|fix|build|make|generate)\s+(?:a|an|the|me)\b.*\b(?:always|never"
    r"|every|each)\b",
    rf"\b(?:the|a|an|when|if|whenever|once)\s+(?:\w+\s+){{0,2}}?{PRODUCT}\s+(?:(?:we're|we are"
    rf"|that we)\s+\w+\s+)?(?:must|should|shall|can|may|is|are|has to|have to|needs?|always|never|says?|shows?"
    rf"|returns?|gets?)\b"
    rf"|\b(?:when(?:ever)?|if|once|after|before|for|in)\s+(?:a|an|the|any|every|each|two"
    rf"|all)\s+(?:\w+\s+){{0,2}}?(?<!new )(?:users?(?![- ](?:visible|facing))|admins?|customers?|clients?|visitors?"
    rf"|players?|forms?|screens?|sockets?|buttons?|requests?)\b"
    rf"|^{PRODUCT}\s+(?:must|should|shall|can|may|always|never|cannot)\b|\b(?:users|admins|customers|visitors"
    rf"|players)\s+(?:must|should|can|may|always|never)\b",
    r"\b(?:always|never|must|should) (?:return|raise|throw|show|display|render|redirect|send|retry|cache|round|limit"
    r"|accept|reject|open|close|handle|load|emit|start"
    r"|exceed|block|crash|hang|happen|sort|keep|store|encrypt|hash|queue|drop|lock|validate)\b"
    rf"(?!.*\b(?:{KINDS}|{STYLES}|me|my|i|you|your|we|our)\b)",
    r"\bto be (?:uploaded|sent|shown|saved|valid|accepted)\b|\b(?:show|return|raise|throw|display) (?:an? )?(?:error"
    r"|warning|message|toast)\b",
    r"\b(?:sort|filter|show|display|render|round) (?:the|all)\b",
    r"\b(?:in|on|below|above|under|of|for) the (?:\w+ )?(?:invoice|form|page|screen|dialog|e?mail|field|button|pdf"
    r"|csv|export|report|ui|header|footer|list|app|payload|newsletter|website)s?\b",
    r"\b(?:in|for|of|on) (?!snake_case|camelcase|pascalcase)(?-i:[a-z]+(?:[A-Z]\w*|_\w+)|[\w-]+\.(?:py|tsx?|jsx?|go|rs"
    r"|java|rb|css|html|sql|c|cpp)\b)|\byou(?:'re| are) \w+ing\b",
    # What was, or only happens, and sayings.
    r"^(?:they|he|she|it|i|you)\s+(?!always want|never want|want|prefer|would|must|should|may|can|are not|told|said"
    r"|don't)(?!.*\bso\b).*\b(?:always|never)\b"
    r"|\b(?:and|but|that|which) (?:always|never) (?:make|let|give|bring|leave|have) (?:us|me|you|him|her|them)\b",
    r"\b(?:you|it|he|she|they|tests?|build|ci)\s+(?:always|never)\s+\w+(?:s|ed)\b|\b(?:always|never)\s+(?:been|had|was"
    r"|were|got)\b",
    r"\bnever give up\b|\bkeep (?:going|it up)\b|^(?:but |and )?i(?:'ll| will)\b|\b(?:never ?mind|never gonna"
    r"|always good|always nice|as always|like always|look forward)\b",
    r"\bfor (?:this|that|it|these|those)\W*(?:please\W*)?\Z|\b(?:write|do|fix|build|change|implement) (?:this|it)\W*\Z"
    r"|\bof the (?:file|function|class|page|table|screen|form)\W*\Z"
    r"|^\W*no (?:tests|comments|changes|code)\W*\Z|\bbefore (?:we|you|i) (?:continue|proceed|go on|move on|start\W*\Z"
    r"|stop|finish)",
    r"\b(?:every|each|all|any|conventions?|styles?|patterns?)\b[^,;]* in \S+\.(?:py|tsx?|jsx?|go|rs|java|rb|md|json"
    r"|ya?ml|css|html|sql|sh|c|h|cpp)\b"
    r"|,\s*(?:please\s+)?(?:add|fix|do|remove) (?:them|that|it|those)\b|^stop\b.*\band (?:do|start|finish|answer)\b"
    r"|^keep (?:the )?(?:changes|diffs?)\b|^(?:write|put) .* in the (?:readme|docs|wiki)\W*\Z"
    r"|^avoid (?:\w+ing (?:the|this|that|my)|regressions|breaking)\b",
    r"^(?:no,? )?use .*\b(?:for|in|on) the (?!\w*(?:repo|project|code|docs|frontend|backend|tests|api|ui"
    r"|logs))\w+\W*\Z",
    rf"^(?!.*\b(?:we|our|always|never|from now on)\b)(?:(?:please|no|ok|and|also)[\s,]+)*(?:{VERBS}|{_NOT}"
    rf"|no)\s.*(?<!from )\bhere\b|\bin \w+\(\)",
    r"^no [^,]*, (?:just|only|give|show)\b|^stop\b.*\b(?:i'm|i am|found|already|let's|wait|enough|there)\b",
    r"\bplease fix\b|\bcan you fix\b|\bwhat do you think\b|\bgo on\W*\Z|\bgo ahead\b|\bplease continue\b",
)  # fmt: skip
_ONCE = lazy(
    r"\b(?:yet|while (?:i|we)(?:'m|'re| am| are)?|meanwhile|as well|again|still"
    r"|instead\W*\Z|first\W*\Z|for (?:the|an?) \w+(?: \w+)?\W*\Z)\b",
    _I,
)
_GENERAL = lazy(rf"\b(?:{_ALWAYS}|from (?:now|here) on|going forward|every|each|whenever|off[- ]limits|we still)\b", _I)
_SINGLE_QUOTED = lazy(r"(?<!\w)'[^']{3,}'(?!\w)")
_POLITE = lazy(
    r"^(?:(?:please|hey|hi|ok),?\s+)*(?:can|could|would|will) you\s+(?:please\s+)?(?:always|never|stop|from now on)\b",
    _I,
)
_AT_A_CLAUSE, _AT_THE_START, _IS_MARKED, _IS_NONE = (
    lazy(_one_of(patterns), _I) for patterns in (_ANYWHERE, (*_ANYWHERE, *_AT_START), _MARKED, _NONE)
)


def may_instruct(lowered: str) -> bool:
    """Whether a text in small letters has a word without which it sets nothing in English."""
    return any(map(lowered.__contains__, CUES))


def is_polite(said: str) -> bool:
    """Whether what is asked is told: "Could you please always answer in German?"."""
    return _POLITE.search(said) is not None


def sets_standing(said: str) -> bool:
    """Whether a sentence of English, with `QUOTED` for what is quoted in it, sets a standing instruction."""
    if len(said) > MOST_CHARS or not may_instruct(said.lower()):
        return False
    said = _SINGLE_QUOTED.sub("QUOTED", said)
    if not _seems_standing(said) or _IS_NONE.search(said):
        return False
    return _GENERAL.search(said) is not None or _ONCE.search(said) is None


def _seems_standing(said: str) -> bool:
    """Whether a clause of a sentence has the form of an instruction; the first may have more of them."""
    if any(_AT_THE_START.match(said, place) for place in _openings(said, 0)):
        return True
    for found in _BREAK.finditer(said):
        if any(_AT_A_CLAUSE.match(said, place) for place in _openings(said, found.end())):
            return True
    return _IS_MARKED.search(said) is not None


def _openings(said: str, place: int) -> tuple[int, ...]:
    """Return where a clause begins, with what says nothing of its own and without."""
    found = _LEAD.match(said, place)
    return (place,) if found is None or found.end() == place else (place, found.end())
