"""Forms of an English clause or sentence that set a standing instruction, as patterns by subject.

`instructing_none` has the exceptions.
"""

from __future__ import annotations

from memtape.state.text.everywhere import EVERYWHERE
from memtape.state.text.instructing_pieces import (
    ALL_OVER,
    ALWAYS,
    ENDS,
    FROM_NOW,
    HABIT,
    HERE,
    INSTEAD,
    KIND,
    NEW,
    NOBODY,
    NOT,
    OK,
    ONE,
    ORDER,
    PERMIT,
    PLACE,
    SCOPE,
    SHOULD,
    THING,
    WHEN,
    WORD,
    one_of,
)
from memtape.state.text.instructing_words import (
    DOING,
    HELD,
    KINDS,
    LANGUAGES,
    STYLES,
    TALK,
    TOOLS,
    UNWANTED,
    VERBS,
)

_OF_KINDS = (
    rf"need\s+my {OK}\b",
    rf"{HERE}\s+(?:are|is|get|must|should|have to)\s+(?:(?:be|all|always|never|not)\s+)*(?:{HELD}|{STYLES}"
    rf"|{LANGUAGES})\b",
    rf"(?:are|get|gets|is)\s+(?:(?:always|never)\s+{HELD}\b|{HELD}\b[^?]*?{SCOPE})",
    r"(?:(?:always|only|never)\s+)?(?:go|goes|belongs?|lives?(?=(?: \S+){0,6}? here\b| beside| next| alongside))"
    r"\s+(?:in|into|under|next to|inside|on top of|beside|alongside)\s",
    r"(?:(?:in|are|is)\s+)?(?:(?:always|all)\s+)?(?:upper ?case|lower ?case|snake_case|camelcase|pascalcase|kebab-case"
    r"|singular|plural"
    r"|(?:at most|max(?:imum)?|under|below) \d+)\b(?!.*\b(?:are|were)\b)",
    rf"{SHOULD}(?:\s+(?:not|only|never|always))?\s+(?:have\s+(?!been\b)|start\b|end\b|follow\b|use\b|contain\b"
    rf"|begin\b|go\b"
    rf"|live\b|reference\b|mention\b|link\b|include\b|be\s+(?:{HELD}\b|(?-i:[a-z]*[/<`])))",
    r"(?:must|may|should|can)\s+(?:not|never)\s+(?!(?:be|have)\b)\w+",
    rf"(?:(?:must|should)\s+)?{ALWAYS}\s+(?:be\s+(?!null|empty|none)\w+|go|contain|use|have|start|end|leave|belong"
    rf"|live|come|include"
    r"|reference|touch|import|depend|rely|commit|change)\b",
    r"(?:is|are)\s+(?:required|mandatory)\s+(?:on|for|in|with|before)\s+(?:all|any|every|each|new|public)\b",
    r"(?:is|are)\s+(?:strictly |always )?(?:forbidden|banned|not allowed|prohibited)\b",
    rf"in {LANGUAGES}(?:\W*\Z|[,;])",
    r"(?:are|is) (?:formatted|sorted|generated|run|built|checked|linted) (?:with|by|via) [^?]*\bhere\W*\Z",
    r"for\s+(?:every|each|all new|any)\b(?!.*\b(?:in|of) (?:the|this)\b)",
    rf".*\b{FROM_NOW}\W*(?:please\W*)?\Z",
)
"""Statements about kinds of things."""
_OF_US = (
    r"(?:don't|do not|never|only(?: ever)?)\s+(?:use|write|add|mock|commit|squash|rebase|merge|do|allow|ship|put|name"
    r"|call|push|import"
    r"|hand-?\w+|edit|touch|store|log|catch|abbreviate|support|accept|test|format|prefix|inline|deploy)"
    rf"\s+(?!(?!them){ONE}|well\b|much\b)\S",
    rf"(?:always\s+)?(?:write|name|call|prefix|format|indent|sort|order|group|sign|squash|pin|spell|tag|wrap|document"
    rf"|put|keep)\s+"
    rf"(?:(?:all|our)\s+)*(?:{KIND}|{STYLES})",
    r"(?:(?:always|only)\s+)?(?:use|write|add|mock|commit|indent|name|store|put|format|test|push|squash|merge|rebase"
    r"|deploy|stick to|follow)"
    rf"\s+(?!{ONE})[^,;?]*?{HERE}",
    rf"(?:use|follow|stick to|do)\s+{STYLES}{ENDS}",
    r"(?:deploy|release|merge|commit|test|build|publish|ship) only (?:from|via|through|with|on|to) \S",
    r"(?:still |only )?(?:support|target|run on)\s+[^,;?]*\d[^,;?]*,? so\b",
)
"""Conventions of "we"."""
_OF_ORDERS = (
    rf"[^?]*?{PERMIT}",
    r"[^,;?]*\bwhen i (?:ask|say)\b",
    rf"[^,;?]*?\b(?:(?:whenever|every time|each time)\s+(?:you|we|i|something)\b|(?:before|after|with) (?:every|each"
    rf"|any)\s+(?!(?:one|other|file|of)\b)"
    rf"(?:(?:single\s+)?(?:{WORD}\s+)?{KINDS}\b|{DOING}|push|merge|session|task|edit|build|change|step|response)"
    rf"|(?:in|on|for|to) (?:every|each|any)"
    r" (?:new \w+|commits?|prs?|pull request|branch|session|release|merge|push|deploy|change)\b)(?!\s+in\s+(?:the"
    r"|this)\b)",
    r"[^;?]*,\s*(?:every time|each time|always)\W*\Z",
    rf"[^?]*?(?:{EVERYWHERE}|\b{FROM_NOW})\W*(?:please\W*)?\Z",
)
"""Words that make any order general."""
_ORDERED = (
    rf"{ORDER}\s(?:{one_of(_OF_ORDERS)})",
    rf"{NOT}\s+{VERBS}\s[^?]*\b(?:ever|under any circumstances)\W*\Z",
    rf"(?:always\s+)?(?:ask|check with|consult|tell|warn|confirm with)\s+(?:(?:me"
    rf"|us)\s+)?(?:first\s+)?before\s+(?:you\s+)?"
    rf"(?:{VERBS}|{DOING})(?:\W*\Z|\s+{NEW}|\s+to (?:main|master|production|prod)\b)",
    r"(?:always\s+)?(?:ask|check with|consult|ping) (?:me|us) before\b",
    # How answers are to be.
    r"be (?:very )?(?:concise|brief|terse|succinct)\b",
    rf"(?:answer|reply|respond|speak|talk|write"
    rf"|communicate)(?: to)?(?: me)?\s+(?:only\s+)?in\s+{LANGUAGES}\b(?!\s+(?:and )?then\b)",
    rf"keep\s+(?:(?:all|your|our)\s+)*{KIND}\s+(?:\w+\s+)?(?:to|concise|terse|short|brief|small|simple|pure|sorted|under|below|at"
    rf"|within|focused"
    r"|atomic|flat|alphabetical|in sync|up to date|out of|free of|minimal|private)\b",
)
_CONDITIONS = (
    rf"{WHEN}\s+(?:(?:you|we|i)(?:'re| are)?\s+)?(?:ever\s+)?(?!(?:finish|continue|proceed|start|stop|get|see"
    rf"|done)\b)(?:{VERBS}|{DOING})\b"
    rf"(?:\s+(?:up|in|out|on|to|into|from))?(?:\s+{NEW}[^,;:]*[,:]\s*{NOBODY}{ORDER}"
    rf"|[,:]\s*{ORDER}\s+(?:(?!{ONE})|the (?:linter|formatter|tests|test suite|type checker|changelog|docs)\b))",
    rf"(?:whenever|every time|each time|any ?time)\s+(?:you(?! (?:need|want|like|feel|are|can|have)\b)|we|i|a|an"
    rf"|something|there)\b[^,;]*[,:]\s*{NOBODY}{ORDER}",
    rf"(?:if|when)\s+(?:an?|any)\s[^,;?]*?(?:,\s*|\s)(?:always |never |please |just )*{VERBS}\s+(?!it\b|that\b|this\b"
    rf"|the\b|a\b|an\b)\w",
    rf"when you (?:commit|push|merge|deploy|release|search),? {ORDER}",
    rf"(?:if|when)\s+(?:(?:something|anything)(?: in [^,;]+)?|the (?:spec|task|ticket|requirement)\w*) (?:is|are|isn't"
    rf"|seems) (?:unclear|ambiguous|not clear|missing)\b[^?]*?{VERBS}\b",
    rf"(?:if|when)\s+(?:you(?:'re| are)\s+)?(?:unsure|in doubt|not sure|uncertain)\b[^,]*,\s*{ORDER}",
    rf"(?:before|after)\s+(?:every|each|any)\s+[^,;]+,\s*{ORDER}",
    rf"{WHEN} [^,;?]{{3,60}}?\s(?:always|never) {VERBS}\b",
    rf"(?:in|for) (?:any|all|every|each)\s+{KIND}[^,;?]*?,?\s(?:please\s+)?{HABIT}",
    rf"in\s+(?:our\s+|the\s+)?(?:\w+\s+)?{KINDS},?\s+(?:please\s+)?(?:always|never)\s+{VERBS}\b",
    r"in\s+(?:our\s+)?tests,?\s+(?:please\s+)?never\s+(?:sleep|block|patch|hit|print|retry)\b",
)
"""Conditions for a repeated event."""
ANYWHERE = (
    rf"(?:(?:you|we)\s+(?:(?:should|must|shall|need to|have to|are to|can|may|do)\s+)?|let's )?{ALWAYS}\s+(?:just "
    rf"|simply |again )?"
    rf"(?!(?:need|have|think|try|be|go|say)\b){VERBS}\b(?!-)",
    rf"{KIND}\s+(?:{one_of(_OF_KINDS)})",
    rf"we\s+(?:{one_of(_OF_US)})",
    *_ORDERED,
    *_CONDITIONS,
    # Things unwanted everywhere, or wanted in place of others.
    rf"(?:no|nothing)\s[^?]*?{PERMIT}",
    rf"no\s+(?:more\s+)?{UNWANTED}(?:\W*(?:please|pls|thanks)?\W*\Z|[,.;]|\s+(?:please|pls)\b|\s+(?:in|on|to|for"
    rf"|without|at|inside|anywhere|ever|and)\b"
    rf"(?!\s+(?:(?!the\b|this {PLACE}\b){ONE}|the (?!code|repo|docs|main|commits|readme|database))))",
    rf"{NOT} (?:use|add|install|import|run|call) (?:{TOOLS}|{UNWANTED})\b(?!.*\b(?:in|for|on) (?:the|this|it)\b)",
    rf"(?:only |exactly )?(?:one|a single) {WORD}(?: {WORD})? per (?:file|commit|pr|pull request|ticket|issue|branch"
    rf"|module|test|line|change)\b",
    rf"all new {KINDS} (?:in|with|under|go|goes|uses?)\s",
    rf"so (?:please )?{NOT} (?:use|add|introduce|write|create|log|commit|import|mock|call) (?:{TOOLS}"
    rf"|{UNWANTED})\b(?!.*\b(?:in|for|on|to) (?:the|this|it|my)\b)",
    rf"no\s+(?:{WORD}\s+){{1,3}}?(?:in|on|to|for)\s+{KINDS}\b",
    rf"(?:{ALWAYS}\s+)?(?:use\s+)?{TOOLS}(?: please| pls)?{INSTEAD}{TOOLS}(?:\W+{HERE}|\W*\Z|\W+(?:please|pls)\b)",
    rf"{TOOLS} for {WORD}(?: tests?)?, (?:and )?{TOOLS} for {WORD}",
    rf"(?!{ONE}|reply|answer|respond|do\b){WORD} only (?:with|via|through)\s+(?!{ONE})\S",
    # Conventions of this project and of each of a kind in it.
    rf"(?:this|our)\s+(?:\w+ )?{PLACE}\s+(?:only\s+|always\s+)?(?:uses|follows|sticks to|squashes|rebases|requires"
    rf"|enforces|does not|doesn't|never|is on (?!fire))\b",
    r"(?:nothing|no ?one|nobody)\s[^,;?]*?\b(?:gets?|is|goes)\s+(?:ever\s+)?(?:committed|comitted|merged|pushed"
    r"|deployed|checked in)\b",
    rf"(?:{LANGUAGES}|(?:british|american|us|uk) spelling|conventional commits)\s+(?:in|for|only in"
    rf"|everywhere)\s+(?:all\s+|our\s+|the\s+)?(?:\w+ and )?(?:{KINDS}|{PLACE})\b",
    rf"(?:every|each|all|any|new|public|our"
    rf"|exported)\s+(?:{WORD}\s+){{0,3}}?{KINDS}\s+(?:[^,;?]{{0,40}}\s)?{SHOULD}\s+(?:not\s+)?"
    r"(?!(?:now|pass\W*\Z|work|be (?:fine|ok|okay|good|enough|easy|fixed|there|able|available|done\W*\Z|ready|visible"
    r"|green"
    r"|passing)|have been|have (?:gone|failed|broken))\b)\w+",
    rf"the\s+(?:changelog|readme|docs|lockfile|schema|openapi\S*)\s+{SHOULD}\s[^?]*?\b(?:every|each|any)\b",
)
AT_START = (
    # "Use X, not Y", "use X in this repo", and known ways to work.
    rf"(?:{SCOPE},?\s+|for (?!{ONE})[^,;:]+?,?\s+)?(?:(?:only|we|you (?:must|should|have to))\s+)*(?:use"
    rf"|run (?:\w+ )?{KINDS} (?:with|in)|write (?:\w+ )?{KINDS} (?:with|in))\s+{THING}"
    rf"(?:\s+for\s+(?!{ONE})[^,;]+?|\s+(?:in|on) {WORD})?{INSTEAD}(?:use\s+)?{THING}(?:\W|\Z)",
    rf"(?:(?:only|you must|you should)\s+)?use\s+(?:(?!{ONE})|the standard )(?:{WORD}\s+){{1,5}}?for\s+(?:all|any"
    rf"|every|each|everything|anything|new)\b",
    rf"(?:only\s+)?use\s+(?!{ONE})(?:{WORD}\s+){{1,4}}?(?:for|in)\s+(?:{WORD}\s+)?(?!test\b){KINDS}(?:\W*\Z|[,;(])",
    rf"(?:only\s+)?use\s+{STYLES}{ENDS}",
    rf"only use {KINDS} (?:that|with|from)\s",
    rf"only use\s+[^,;]+?\s+(?:in|for|when|inside|under)\s+(?!{ONE})\S",
    rf"{STYLES}(?:,? (?:please|pls)\b| (?:for|in|on) (?:all )?(?:{KIND}|js|ts|{TOOLS})(?:\W*\Z|[,;]| please\b))",
    rf"(?:use|run)\s+(?!{ONE})[^,;?]+?\bwhen you {VERBS}\b(?!\s+(?:{ONE}))",
    # Rules of a scope.
    rf"(?:{ALL_OVER}|for (?:anything|everything) (?:in|under|to do with) {WORD}|for (?!{ONE}|example\b"
    rf"|instance\b)(?:{WORD}\s+){{0,3}}?{WORD})\s*[,:]?\s+(?:bitte\s+)?"
    rf"(?:{HABIT}\s+(?:(?!{ONE})|the (?:standard|existing|imperative) )\S|{ORDER}\s+{NEW}|no\s+{UNWANTED}"
    rf"|\w+ \w+ verwenden\b)",
    rf"{EVERYWHERE}\s*[,:]?\s*(?:{HABIT}|{ORDER}\s+(?!{ONE})\S|{KIND}\s+(?:is|are|must|should|go|use)\b|(?:i"
    rf"|we) (?:want|prefer|use|like|always|never)\b|no\s)",
    rf"{HABIT}\s+(?!{ONE})[^?]*?{ALL_OVER}",
    rf"(?:no|(?:i|we)\s+(?:always|never|only|prefer|use|want))\s+[^?]*?{EVERYWHERE}\W*(?:please\W*)?\Z",
    # "From now on", "as a rule".
    rf"(?:please\s+)?{FROM_NOW}\s*:\s*\S",
    rf"(?:we|let's)\s+(?!(?:were|was|had|have|are|will)\b)[^?;:]{{3,60}}?\b{FROM_NOW}\s*:\s*\S",
    rf"(?:{FROM_NOW}|in (?:the )?future|for (?:the )?future|next time|as a (?:general )?rule(?: of thumb)?|in general"
    rf"|generally|by default)\b[,:]?\s+"
    rf"(?:please\s+)?(?:{ORDER}|you (?:must|should|can|are to)\b|we (?:only |don't |do not |never |always )?{VERBS}\b"
    rf"|i(?:'d| would)? (?:want|prefer|need|like)\b"
    rf"|(?:no|only|every|all|each|any|if|when|before|after)\s|{KIND}\s|{STYLES}\b)",
    r"(?:prs|pull requests|(?:new |public )?(?:functions|endpoints|features|commits)|bug ?fixes|releases) (?:need"
    r"|require|get) (?:a|an|at least|one|two)\s",
    r"(?:our )?(?:we're|we are|prod(?:uction)? (?:is|runs)|ci (?:is|runs)|servers? (?:are"
    r"|run)) (?:still )?on [^,;?]*\d[^,;?]*,? so\b",
    r"(?:commit|branch|pr|file|test|import|naming)s? (?:names?|naming|messages?|titles?|format|style|order)\s*:\s",
    r"(?:(?:house |project |team |coding )?(?:rule|convention|policy)|style)\s*:\s*\S",
    # Preferences of kinds of things.
    rf"(?:i|we)\s+(?:always|never)\s+want\s+(?:to\s+(?:see|have|know|be)|you\s+to|an?\b|my\b|{KINDS}\b)",
    rf"i\s+{NOT}\s+(?:ever\s+)?want\s+(?:you to\s+(?:ever\s+)?{VERBS}\s+)?(?:any\s+)?{UNWANTED}\b",
    rf"(?:i|we)\s+(?:(?:really|strongly|generally|usually|always|much|also|still)\s+)?prefer\s+(?!{ONE}"
    rf"|\w+ing\b)(?:[^,;?]*?(?:{KINDS}|{STYLES}|{TALK})\b|{THING}\s+over\s)",
    rf"(?:i|we)(?:'d| would)\s+(?:much |always )?(?:rather|prefer)\s+(?:(?:have|use|see|get|you use"
    rf"|you used)\s+)?(?!{ONE})(?:{WORD}\s+){{0,4}}?(?:{KINDS}|{STYLES}|{TALK})\W*\Z",
    r"i(?:'d| would) (?:rather|prefer(?: it if)?|like it if)\s+you\s+[^,;?]+?\b(?:when(?:ever)?|if|every time"
    r"|before)\b",
    rf"(?:but |and |so )?(?:generally|in general|usually|by default),?\s+i\s+want\s+{KIND}\s+(?:{HELD}|kept"
    rf"|separate)\b",
    rf"(?:{SCOPE},?\s+)?(?:(?:strongly|generally|always)\s+)?(?:prefer\s+(?!{ONE})|avoid\s+(?!{ONE}|breaking\b"
    rf"|doing\b))\S",
    # Things never done, of no single object.
    rf"(?:you (?:must not|mustn't|may not|should not|shouldn't|are(?: not|n't) allowed to|'re not allowed to|can't"
    rf"|cannot)|{NOT})\s+(?:ever\s+|just\s+|simply\s+)?"
    rf"(?!(?:do|be|go|think|try|wait|look|trust|assume|let|have)\b|{VERBS}\s+(?:code|tests?|changes|files?|features"
    rf"|back|up|out|off|too|so|away|about|with|to|for|as|of|over)\b(?! (?:you|that|outside)\b)[^,]*\Z)"
    rf"{VERBS}\s+(?!(?:{ONE}|any (?:code|changes|tests|files)\b|code\b|so\b|too\b|back\b|up\b|out\b|off\b|away\b"
    rf"|in\b))\S"
    r"(?![^?]*,\s*(?:just|only|but|i|it|we|they|he|she)\b|[^?]*\s(?<!of )(?<!for )(?:the|my|your|his|their|here)\b)",
    rf"(?:{NOT}|you must not|you may not|you should not)\s+{VERBS}\s+[^,;?]+?\s+(?:(?:in|inside|to|from|under|for"
    rf"|into) (?:{KINDS}(?:\W*\Z|[,;(])|{WORD}/(?:\W|\Z))"
    r"|by hand\b|manually\b|(?:directly )?(?:to|on|into) (?:main|master|develop|production|prod)\b)",
    rf"(?:{NOT}|never)\s+(?:touch|edit|change|modify|delete|move|rename|import)\s+the\s+{WORD}s\s+(?:marked|tagged"
    r"|labell?ed|called|named|under|below|starting with|ending in)\s",
    rf"stop\s+(?:always\s+)?{DOING}\s+(?!{ONE}|tests\b(?! for)|code\b)\S+(?!.*\b(?:in|to|from|for|on) (?:the|my)\b)",
    r"stop asking (?:me )?(?:if|whether|for)\b",
    r"(?:run|do|test|build) everything (?:through|via|with|in|inside)\s",
    rf"stop\s+(?:always\s+)?(?:apologi[sz]ing|{DOING}\s+[^,;]*\b(?:all the time|every time|everywhere|to every"
    rf"|in every|at the end of every|after every|so much)\b)",
    rf"(?!\w+ (?:all|every) (?:tests?|files?|code|imports?)\b|write (?:\w+ )?tests with)(?:write|format|name|sort"
    rf"|order|prefix|group|indent|sign|put|place|store"
    rf"|squash|document|pin|wrap|log)\s+(?:your\s+)?(?:(?:all|our|new|public)\s+)*{KIND}\s+(?:in|with|without|as|into"
    rf"|under|at|next to|by|before|after|alphabetically|like|using"
    rf"|according)\b(?!\s+(?:this|that|these|those|my|{WORD}\.(?:py|ts|js|go|rs)\b))",
    r"(?:follow|stick to|adhere to)\s+(?:the\s+|our\s+)?(?:[\w-]+\s+){0,2}(?:style ?guide|conventions?"
    r"|coding standards?|guidelines|(?:code |coding )?style)\b(?!\s+(?:of|in)\b)",
    rf"remember to\s+(?!be\b|do\b|take\b|go\b){VERBS}\s+(?!{ONE})\S",
    r"(?:add|put|save) (?:this|that) (?:to|in|into) (?:claude\.md|agents\.md|your (?:memory|rules|instructions))\b",
)
MARKED = (
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
