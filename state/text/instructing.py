"""Which sentence of English sets a standing instruction: one that a later session would want to know.

What makes a sentence standing is its generality. It says "always", "never", "from now on", or names a scope, a
condition that comes again, or kinds of things ("commit messages", "dependencies") instead of one thing at hand. What
points at the work at hand (this, that, the second one, now, yet), reports what others say, asks, or mocks sets none.
Whoever says it, and other languages (`polarity`), are not here.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.state.text.everywhere import EVERYWHERE

_I = re.IGNORECASE
MOST_CHARS = 400
"""A longer sentence is something pasted."""

CUES = tuple(
    cue.replace("_", " ")
    for cue in """
    always never ever_ prefer rather from_now from_here going_forward future don't don’t do_not dont stop no_
    remember every each must should need_ needs_ use_ avoid keep only ask_ answer reply respond speak write_ when_
    whenever if_ before after by_default in_general rule convention policy style forbidden allowed banned mandatory
    required off_limits off-limits prohibited go_ goes_ belong want put_ follow stick name_ sign_ run_ format sort_
    order_ prefix group_ indent place_ store_ squash document pin_ wrap log_ ensure make_sure preference commit_ test_
    communicate projekt projet
    """.split()
)
"""A text without one of these sets nothing in English."""

_VERB = (
    r"(?:use|add|write|include|generate|create|suggest|apologi[sz]e|explain|summari[sz]e|format|reply|respond|answer"
    r"|commit"
    r"|push|import|install|run|test|check|log|lint|rebase|mock|delete|cite|ask|touch|edit|change|modify|remove|merge"
    r"|skip"
    r"|catch|call|rename|print|hard-?code|bypass|rely|store|send|expose|translate|reformat|refactor|upgrade|bump|deploy"
    r"|publish|tag|squash|force|put|place|keep|prefer|avoid|follow|stick|name|declare|define|document|update|review"
    r"|verify"
    r"|validate|escape|quote|sort|group|wrap|indent|pin|lock|sign|start|begin|end|finish|stop|make|do|be|go|give|show"
    r"|tell"
    r"|say|speak|talk|read|open|close|ignore|disable|enable|set|return|raise|throw|handle|assume|guess|leave|let|have"
    r"|work"
    r"|build|compile|release|ship|revert|reset|amend|cherry-pick|fetch|pull|clone|fork|stage|stash|branch|target|link"
    r"|copy"
    r"|paste|move|invent|make up|mention|note|state|list|number|split|extract|inline|export|expose|type|annotate|cast"
    r"|embed"
    r"|commit|cover|assert|benchmark|profile|measure|monitor|restart|migrate|seed|truncate|drop|alter|query|join"
    r"|index|cache"
    r"|trust|share|upload|download|access|execute|launch|invoke|trigger|schedule|wait|confirm|approve|warn|notify"
    r"|report"
    r"|describe|comment|credit|attribute|co-author|introduce|implement|pass|pipe|redirect|bind|mount|save|overwrite"
    r"|override"
    r"|suppress|silence|swallow|nest|chain|mutate|reuse|duplicate|repeat|abbreviate|capitali[sz]e|lowercase|pluralize"
    r"|prefix"
    r"|render|fix|clean|double-check|consult|treat|think|look|try|depend|disclose|reveal|encrypt|hash|load|fall back"
    r"|omit"
    r"|reference|refer|require|specify|plan|propose|outline|present|switch|resolve|separate|leak|embed|proceed|feed"
    r"|seed|rewrite|guess|discard|bring|recommend|offer)"
)
_DOING = (
    r"(?:us|add|writ|includ|generat|creat|suggest|apologi[sz]|explain|summari[sz]|format|repl[yi]|respond|answer"
    r"|committ"
    r"|push|import|install|runn|test|check|logg|lint|rebas|mock|delet|cit|ask|touch|edit|chang|modify|remov|merg|skipp"
    r"|catch|call|renam|print|hard-?cod|bypass|rely|stor|send|refactor|upgrad|bump|deploy|publish|tagg|squash|forc|putt"
    r"|mak|leav|wrapp|repeat|tell|end|start|say|prais|assum|guess|invent|overwrit|split|abbreviat|reformatt|touch"
    r"|releas"
    r"|implement|mention|ignor|open|do|introduc|mov|updat|fix)ing"
)
_WORDY = r"[\w`'/.@+#*-]"
_DEFINITE = r"(?:the|this|that|these|those|it|its|them|him|her|his|their|my|your|me|us|one|both|either|here|there)\b"
_ARTICLE = r"(?:a|an|another|some|more)\b"
_ONCE_WORDS = (
    r"\b(?:yet|for now|for the moment|for the time being|right now|just now|at the moment|this time|this once|just once"
    r"|today|tonight|tomorrow|this (?:week|morning|afternoon|evening|sprint)|until|till|while (?:i|we)|meanwhile"
    r"|(?<!from )(?<!and )now(?! on)|as well|again|still|instead\W*\Z|first\W*\Z)\b"
)
_KINDS = (
    r"(?:commits?|(?:commit|error|log|merge|exception|warning) messages?|messages?|prs?|pull requests?|merge requests?"
    r"|branch(?:es)?|branch names?|(?:pr |pull request )?titles?|(?:pr )?descriptions?|(?:unit |integration |e2e "
    r"|regression )?"
    r"tests?|test (?:files?|names?|cases?)|fixtures?|mocks?|functions?|methods?|class(?:es)?|modules?|files?"
    r"|file names?"
    r"|filenames?|components?|hooks?|endpoints?|routes?|handlers?|migrations?|docstrings?|comments?|code|names?"
    r"|identifiers?"
    r"|variables?|variable names?|constants?|env(?:ironment)? var(?:s|iables?)?|imports?|exports?|dependenc(?:y|ies)"
    r"|packages?"
    r"|librar(?:y|ies)|logs?|log lines?|errors?|exceptions?|timestamps?|dates?|times|secrets?|credentials|passwords"
    r"|tokens"
    r"|api keys|keys|docs|doc pages|documentation|changelogs?|change ?log entries|types?|type hints|apis?|api responses"
    r"|responses|replies|answers?|explanations?|summaries|quer(?:y|ies)|sql|tables?|columns?|schemas?|scripts?"
    r"|shell scripts"
    r"|configs?|settings|flags?|feature flags|releases?|versions?|deploys?|deployments?|bug ?fix(?:es)?|fix(?:es)?"
    r"|features?"
    r"|refactors|changes|new code|paths|urls?|strings?|user-facing strings|ids?|indent\w*"
    r"|lines|styles|css|assets|images|diagrams|reviews|plans|todos?|examples|snippets|code (?:blocks|comments|samples)"
    r"|interfaces?|structs?|enums?|models?|services?|controllers?|jobs|workers|events?|issues?|tickets?|diffs?|globals"
    r"|shell commands|commands|markdown|readmes?|semicolons|quotes|tabs|emojis?|generated (?:code|files))"
)
_MANY = (
    rf"(?!{_DEFINITE}|{_ARTICLE})(?:(?:every|each|any|all(?: the| our| of our)?|our|new|public|exported|internal)"
    rf"\s+)*(?:{_WORDY}+\s+){{0,3}}?"
)
_SCOPE = (
    r"(?:(?:in|across|throughout|within|for|on)\s+(?:this|our|the(?: whole| entire)?|all (?:of )?(?:our|my)|(?:any"
    r"|every|each)"
    r"(?: one)?(?: of my| of our)?|all|my)\s+(?:repo(?:sitory|s|sitories)?|projects?|code ?base|code|monorepo|workspace"
    r"|machine|team|company|tests?|test suite|sources?|stack|frontend|front end|backend|back end|docs|package|app"
    r"|apps)\b"
    r"(?!\s+(?:(?:i|we)(?:'ve|\s+(?:have|had|know|saw|looked|worked|tried))|i|that|which)\b))"
)
_LEAD = (
    r"^(?:(?:please|pls|also|and|but|so|ok(?:ay)?|oh|hey|btw|by the way|fyi|note|reminder|remember|important|again"
    r"|yes|yeah"
    r"|great|thanks|thank you|no|nope|well|actually|one more thing|also note|in general|generally|as a "
    r"(?:general )?rule"
    r"(?: of thumb)?|by default|just|then|rule|convention|policy|and remember|as i said|like i said|as always|listen"
    r"|look"
    r"|sorry|ah|alright|right|cool|perfect|nice|good|for the record|for (?:the )?future(?: reference)?|in "
    r"(?:the )?future"
    r"|next time|can you|could you|would you|will you|you can|i want you to|i'd like you to|i need you to"
    r"|i would like you to"
    r"|i told you|i said|you know)\b[\s,:;.!–—-]+)*"
)
_ALWAYS = r"(?:always|never(?: ever)?|(?:don't|do not|dont) ever)"
_COMPARES = r"(?:,?\s+(?:and |but )?(?:not|never|no)\s+|,?\s+(?:instead of|rather than|over|in place of)\s+)"
_BARE = rf"(?!{_DEFINITE}|{_ARTICLE}|(?:any|no|only)?thing\b|option\b|number\b|port\b|version\b|\d)"
_THING = rf"{_BARE}(?:{_WORDY}+\s+){{0,3}}?{_WORDY}+?"
_LANGUAGE = (
    r"(?:(?:british|american|plain|simple|proper|formal|us|uk) )?(?:english|german|french|spanish|italian|portuguese"
    r"|dutch"
    r"|polish|russian|chinese|japanese|korean|deutsch|swedish|norwegian|danish|finnish|turkish|hindi|arabic)"
)
_TALK = r"(?:answers|replies|responses|explanations|summaries|messages|comments|reports|updates)"
_STYLES = (
    r"(?:conventional commits|(?:absolute|relative|named) imports?|named exports|type hints|type annotations|tabs|"
    r"(?:two|four"
    r"|2|4|8)[ -]spaces?(?: indent\w*| for indent\w*)?|spaces|semantic versioning|semver|(?:single|double) quotes"
    r"|snake_case"
    r"|camelcase|pascalcase|kebab-case|screaming_snake_case|utc|iso[ -]?8601(?: dates)?|the imperative(?: mood)?"
    r"|imperative"
    r" mood|(?:function(?:al)?|class) components|early returns|strict mode|async/await|f-strings|dataclasses"
    r"|trailing commas"
    r"|metric units|utf-8|lf line endings|(?:british|american|us|uk) (?:english|spelling)|guard clauses|composition"
    r"|dependency injection|parameteri[sz]ed queries|prepared statements|typescript strict mode|present tense"
    r"|active voice"
    r"|squash merges|signed commits|feature branches|trunk[- ]based development|oxford commas?|sentence case"
    r"|title case)"
)
_REPEATED = (
    rf"(?:when(?:ever)?|if|before|after|once|every time|each time|any ?time|while)\s+(?:(?:you|we|i)(?:'re| are)?\s+)?"
    rf"(?:ever\s+)?(?:{_VERB}|{_DOING})\b(?:\s+(?:up|in|out|on|to|into|from))?"
)
_NEW_THING = (
    rf"(?:\s+(?:(?:a|an|any|new|every|each|anything|something|code)\b|(?-i:[A-Z]{{2,}})\b|(?!{_DEFINITE}){_WORDY}+s\b))"
)
_ORDER = (
    rf"(?:(?:please|always|never|also|then|first|only|you (?:must|should|have to|need to|always|never))\s+)*"
    rf"(?:(?:don't|do not|dont|never)\s+)?(?:{_VERB})\b"
)
_HELD = (
    r"(?:written|named|stored|formatted|placed|kept|made|done|tested|squashed|merged|sorted|signed|reviewed"
    r"|documented|typed"
    r"|logged|returned|sent|in|under|over|singular|plural|lower ?case|upper ?case|snake_case|camelcase|kebab-case"
    r"|pascalcase"
    r"|small|short|required|mandatory|prefixed|suffixed|grouped|indented|generated|run|defined|declared|created"
    r"|imported"
    r"|exported|pinned|validated|escaped|quoted|idempotent|reversible|immutable|pure|async|private|frozen|wrapped"
    r"|encrypted"
    r"|iso|utc|at most|no longer|less|fewer|covered|checked|approved|linked|tagged|capitali[sz]ed|atomic"
    r"|backwards?[ -]compatible"
    r"|deterministic|self-contained)"
)
_BANNED = (
    r"(?:emojis?|(?:inline |code |todo )?comments|semicolons|abbreviations|mocks|em[ -]?dashes|(?:default|wildcard"
    r"|star)"
    r" (?:exports|imports)|globals|global (?:state|variables)|print(?: statements|s)?|console\.logs?|magic numbers"
    r"|force"
    r"[ -]push(?:es|ing)?|(?:direct )?(?:push(?:es)?|commits)|any types?|merge commits|todos?|acronyms|jargon"
    r"|exclamation marks"
    r"|tabs|trailing (?:whitespace|commas)|hard-?coded (?:\w+)|bullet points|preambles?|apologies|small talk|filler"
    r"|flattery"
    r"|co-authored-by(?: lines?| trailers?)?|new dependenc(?:y|ies)|external dependencies|inline styles|nested ternar"
    r"(?:y|ies)"
    r"|one-letter (?:names|variables)|raw sql|barrel files|snapshots?(?: tests)?|sleeps?|marketing (?:speak|language)"
    r"|summaries)"
)

_FORMS = (
    # "Always run …", at the start of a clause, or behind who is told to.
    rf"(?:{_LEAD}|[,;:–—-]\s*(?:and |but |so |please )*|{_LEAD}{_ORDER}\b[^?]*?[,;]?\s+(?:and|but)\s+)(?:please"
    rf"\s+)?{_ALWAYS}\s+(?:just |simply )?"
    rf"(?:again )?{_VERB}\b",
    rf"(?:{_LEAD}|[,;:–—-]\s*|\b(?:and|but|so|that|because)\s+)(?:in \w+ (?:\w+ )?)?(?:you|we)\s+(?:(?:should|must"
    r"|shall|need"
    rf" to|have to|are to|can|may|do)\s+)?{_ALWAYS}\s+(?!(?:need|have|think|try|be|do|go|show|say)\b){_VERB}\b",
    rf"{_LEAD}(?:make sure|be sure|ensure|remember|try|take care)\s+(?:that\s+)?(?:to|you|we)?\s*(?:to\s+)?{_ALWAYS}"
    rf"\s+{_VERB}\b",
    rf"{_LEAD}(?:for|in|on|with|when|if|before|after|whenever)\b[^,;:?!]+[,:]?\s+(?:please\s+)?{_ALWAYS}\s+{_VERB}\b",
    rf"{_LEAD}{_MANY}{_KINDS}\s+(?:(?:must|should|shall|may|can)\s+)?{_ALWAYS}\s+(?:be\s+(?!null|empty|none)\w+|go"
    r"|contain|use"
    rf"|have|start|end|leave|belong|live|come|return|include|reference|touch|import|depend|rely|commit|change)\b",
    rf"{_LEAD}{_MANY}{_KINDS}\s+(?:are|is|get|gets)\s+(?:always|never)\s+{_HELD}\b",
    r"^our\s+[^,;]+ (?:are|is|use|uses) always\b.*\b(?:stick|keep) to\b",
    rf"{_LEAD}i\s+(?:always|never)\s+want\s+(?:to\s+(?:see|have|know|be)|you\s+to|an?\b|my\b|{_KINDS}\b)",
    rf"{_LEAD}(?:i\s+)?(?:want|would like|need) you to (?:always|never)\s+{_VERB}\b",
    rf"{_LEAD}i\s+(?:don't|do not)\s+(?:ever\s+)?want\s+(?:you to\s+(?:ever\s+)?{_VERB}\s+)?(?:any\s+)?{_BANNED}\b",
    # "From now on", "as a rule".
    rf"\b(?:from (?:now|here) on(?:wards?| out)?|going forward)\b[,:]?\s+(?:{_ORDER}|you\b|we\b|i (?:want|prefer"
    r"|need)\b|i'd\b|no\b"
    rf"|only\b|every\b|all\b|each\b|any\b|please\b|{_MANY}{_KINDS}\b|{_STYLES}\b|if\b|when\b|before\b|after\b|for\b"
    r"|in\b|answer\b)",
    r"^(?!(?:and |but )?(?:the|it|he|she|they|i'll|that|this|there)\b).*\b(?:from (?:now|here) on(?:wards?| out)?"
    r"|going forward)\W*(?:please\W*)?\Z",
    rf"{_LEAD}(?:if|when)\s+(?:you(?:'re| are)\s+)?(?:unsure|in doubt|not sure|uncertain)\b[^,]*,\s*{_ORDER}",
    rf"{_LEAD}(?:let's {_ALWAYS}|never,[^,]{{3,40}},)\s+{_VERB}\b",
    rf"{_LEAD}(?:don't|do not|dont)\s+{_VERB}\s[^?]*\b(?:ever|under any circumstances)\W*\Z",
    r"^(?:in (?:the )?future|for (?:the )?future|next time|as a (?:general )?rule(?: of thumb)?|in general"
    rf"|by default)[,:]?\s+{_ORDER}",
    r"^(?:(?:house |project |team |coding )?(?:rule|convention|policy)|style)\s*:\s*\S",
    # Preferences of kinds of things.
    rf"(?:{_LEAD}|[,;:–—-]\s*|\b(?:and|but|because|since|so)\s+)(?:i|we)\s+(?:(?:really|strongly|generally|usually"
    r"|always|much|also"
    rf"|still)\s+)?prefer\s+(?!{_DEFINITE}|option\b|number\b|to (?:see|keep|wait|do|have|go|start|stay|leave|stop)\b"
    r"|not\b|if\b"
    rf"|when\b|how\b|what\b|\w\W*(?:\Z|,))\S",
    rf"{_LEAD}(?:i|we)(?:'d| would)\s+(?:(?:much |always )?(?:rather|prefer)\s+)(?:(?:have|use|see|get|that you "
    r"(?:use|write)"
    rf"|you (?:use|used|write|wrote))\s+)?(?!{_DEFINITE}|{_ARTICLE}|option\b|not\b|to\b|go\b|keep\b|you\b|we\b|if\b"
    r"|start\b|wait\b"
    rf"|do\b|stay\b|leave\b|see\b|say\b|have\b|use\b)(?:{_WORDY}+\s+){{0,4}}{_WORDY}+\W*\Z",
    rf"{_LEAD}(?:my|our) preference is\s+(?!{_DEFINITE}|option\b)",
    rf"(?:{_LEAD}|[;:–—]\s*)(?:{_SCOPE},?\s+)?(?:(?:strongly|generally|always)\s+)?prefer\s+(?!{_DEFINITE}|{_ARTICLE}"
    r"|option\b|number\b)\S",
    # "Use X, not Y", "use X for every Y", "use X in this repo", and known ways to work.
    rf"(?:{_LEAD}|[;:–—]\s*)(?:{_SCOPE},?\s+|for (?!{_DEFINITE}|{_ARTICLE})[^,;:]+?,?\s+)?(?:(?:remember to"
    rf"|make sure to|only|we|you (?:must|should)|you have to|run (?:\w+ )?{_KINDS} with|write (?:\w+ )?{_KINDS} "
    r"(?:with|in))\s+)*"
    rf"(?:use\s+)?(?<!\w)(?:(?<=use )|(?<=with )|(?<=in )){_THING}(?:\s+for\s+(?!{_DEFINITE}|{_ARTICLE})[^,;]+?|\s+"
    rf"(?:in|on) {_WORDY}+)?{_COMPARES}(?:use\s+)?{_THING}(?:\W|\Z)",
    rf"{_LEAD}(?:only\s+|you must\s+|you should\s+)?use\s+(?!{_DEFINITE}(?! standard)|{_ARTICLE}|option\b)"
    rf"(?:{_WORDY}+\s+){{1,5}}?for\s+(?:all|any|every|each|everything|anything|new)\b",
    rf"{_LEAD}(?:only\s+|remember to\s+)?use\s+(?!{_DEFINITE}|{_ARTICLE}|option\b)(?:{_WORDY}+\s+){{1,4}}?(?:for|in)"
    rf"\s+(?:{_WORDY}+\s+)?(?!test\b){_KINDS}(?:\W*\Z|[,;(])",
    rf"{_LEAD}(?:only\s+|we\s+)?use\s+(?!{_DEFINITE}|{_ARTICLE}|option\b)[^?]*?\b{_SCOPE}",
    rf"{_LEAD}(?:only\s+)?use\s+{_STYLES}(?:\W*\Z|[,;(]|\s+(?:for|in|everywhere|only|throughout|when|and)\b)",
    rf"{_LEAD}(?:please\s+)?only use\s+[^,;]+?\s+(?:in|for|when|inside|under)\s+(?!{_DEFINITE}|{_ARTICLE})\S",
    rf"{_LEAD}(?:{_SCOPE}|for (?!{_DEFINITE}|{_ARTICLE}|example\b|instance\b|me\b)(?:{_WORDY}+"
    rf"\s+){{0,3}}?{_WORDY}+),?\s+(?:please\s+|always\s+|only\s+|you (?:must|should)\s+|we (?:always\s+|only\s+|never"
    r"\s+|don't\s+)?)*"
    rf"(?:(?:don't|do not|dont|never)\s+{_VERB}|use|prefer|avoid|keep|write|name|follow|stick|sign|ask|answer|reply"
    rf"|commit|test|format|put|store|log)\s+(?!{_DEFINITE}(?! (?:standard|existing|imperative))|{_ARTICLE})\S",
    # What holds in all projects.
    rf"{_LEAD}{EVERYWHERE}\s*[,:]?\s*(?:please\s+|bitte\s+)?(?:(?:use|keep|sign|answer|reply|respond|write|name"
    rf"|format|commit|follow|prefer|avoid|squash)\b|{_ORDER}\s+(?!{_DEFINITE}(?! imperative))\S|ask\b|{_MANY}{_KINDS}"
    r"\s+(?:is|are|must|should|go|use)\b|(?:i|we) (?:want|prefer|use|like|always|never)\b|\w+ \w+ verwenden\b|no\s)",
    rf"{_LEAD}(?:{_ORDER}|no)\s+[^?]*?{EVERYWHERE}\W*(?:please\W*)?\Z",
    rf"{_LEAD}(?:i|we)\s+(?:always|never|only|prefer|use|want)\b[^?]*?{EVERYWHERE}\W*\Z",
    # What is done never, and is no single thing.
    rf"(?:{_LEAD}|[;:–—]\s*)(?:please\s+)?(?:you (?:must not|mustn't|may not|should not|shouldn't|are(?: not"
    r"|n't) allowed to|'re not allowed to"
    r"|can't|cannot)|(?:don't|do not|dont))\s+(?:ever\s+|just\s+|simply\s+)?"
    rf"(?:use|{_VERB}(?!\s+(?:code|tests?|changes|files?|features|back|up|out|off|too|so|away|about|with|to|for|as|of"
    r"|over)\b[^,]*\Z)(?<!\bdo)(?<!\bbe)(?<!\bgo)(?<!\bthink)(?<!\btry)(?<!\bwait)(?<!\blook)(?<!\btrust)"
    r"(?<!\bassume)(?<!\blet)(?<!\bhave))\s+"
    rf"(?!(?:{_DEFINITE}|anything\b|anyone\b|any (?:code|changes|tests|files)\b|more\b|much\b|code\b|so\b|too\b|back\b"
    rf"|up\b|out\b|off\b|away\b|in\b|{_ARTICLE}))(?!use\b)\S(?![^?]*,\s*(?:just|only|but|i|it|we|they|he|she)\b)",
    rf"{_LEAD}(?:don't|do not|dont|you must not|you may not|you should not)\s+{_VERB}\s+[^,;?]+?\s+(?:(?:in|inside|to"
    rf"|from|under|for|into) (?:{_KINDS}(?:\W*\Z|[,;(])|{_WORDY}+/(?:\W|\Z))|unless (?:i|you|we|asked|told)\b"
    r"|without (?:asking|my|checking|permission|approval|a)\b|by hand\b|manually\b|(?:directly )?(?:to|on|into) "
    r"(?:main|master|develop|production|prod)\b)",
    rf"{_LEAD}(?:don't|do not|dont|never)\s+(?:touch|edit|change|modify|delete|move|rename|import)\s+the\s+{_WORDY}+s"
    r"\s+(?:marked|tagged|labell?ed|called|named|under|below|starting with|ending in)\s",
    rf"{_LEAD}(?:please\s+)?stop\s+(?:always\s+)?{_DOING}\s+(?!{_DEFINITE}|{_ARTICLE}|anything\b|tests\b(?! for)"
    r"|code\b)(?:\S+)",
    rf"{_LEAD}(?:please\s+)?stop\s+(?:always\s+)?{_DOING}\s+[^,;]*\b(?:all the time|every time|everywhere|to every"
    r"|in every|at the end of every|after every|so much)\b",
    rf"{_LEAD}(?:please\s+)?no\s+(?:more\s+)?{_BANNED}(?:\s*[,;]\s*(?:use|only|please|just)\b|\W*\Z|\W*please\W*\Z|"
    r"\s+(?:in|on|to|for|without|at|inside"
    rf"|anywhere|ever)\b(?!\s+{_DEFINITE}(?! (?:code|repo|docs|main|commits))))",
    rf"{_LEAD}(?:{_SCOPE},?\s+)?(?:please\s+)?avoid\s+(?!{_DEFINITE}|{_ARTICLE}|breaking\b|doing\b)\S",
    # What every one of a kind must be.
    rf"{_LEAD}(?:{_SCOPE},?\s+)?(?:(?:every|each|all|any|new|public|our|exported)\s+)(?:{_WORDY}+\s+){{0,3}}?{_KINDS}"
    rf"\s+(?:[^,;?]{{0,40}}\s)?(?:must|has to|have to|needs?(?: to)?|should|shall|requires?|gets?)\s+(?:not\s+)?"
    r"(?!(?:now|pass\W*\Z|work|be (?:fine|ok|okay|good|enough|easy|fixed|there|able|available|done\W*\Z|ready"
    r"|visible|green|passing)|have been|have (?:gone|failed|broken))\b)\w+",
    rf"{_LEAD}(?:{_WORDY}+\s+){{0,2}}?(?<!the )(?<!this )(?<!that )(?<!my )(?<!your )(?<!these )(?<!those )(?<!some )"
    rf"(?<!both ){_KINDS}\s+(?:must|should|shall|have to|need to|needs? to|may|can)(?:\s+(?:not|only|never|always))?"
    r"\s+"
    r"(?:have\s+(?!been\b)|start\b|end\b|follow\b|use\b|contain\b|begin\b|go\b|live\b|reference\b|mention\b|link\b"
    rf"|include\b|be\s+(?:{_HELD}\b|(?-i:[a-z]*[/<`])))",
    rf"{_LEAD}(?!{_DEFINITE})(?:{_WORDY}+\s+){{0,2}}?{_KINDS}\s+(?:must|may|should)\s+(?:not|never)\s+(?!(?:be"
    r"|have)\b)\w+",
    r"\bmust (?:never|not ever|under no circumstances) be (?:edited|touched|modified|changed|committed|deleted"
    r"|removed|logged"
    r"|exposed|checked in|pushed|renamed|rewritten|overwritten)\b",
    rf"{_LEAD}(?!{_DEFINITE})(?:{_WORDY}+\s+){{0,2}}?{_KINDS}\s+(?:is|are)\s+(?:required|mandatory)\s+(?:on|for|in"
    r"|with|before)\s+(?:all|any|every|each|new|public)\b",
    rf"{_LEAD}(?:i want|make sure(?: that)?|ensure(?: that)?)\s+{_KINDS}\s+for\s+(?:every|each|all new|any)\b",
    rf"{_LEAD}(?:make sure|ensure)\s+(?:that\s+)?(?:every|each|any|all new)\s+(?:{_WORDY}+\s+){{0,2}}?{_KINDS}\s+"
    r"(?:has|have|comes? with)\b(?!.*\b(?:in|of) (?:the|this)\b)",
    rf"{_LEAD}only ever\s+{_VERB}\b",
    rf"{_LEAD}(?!{_DEFINITE})(?:{_WORDY}+\s+){{0,2}}?{_KINDS}\s+(?:always\s+|only\s+|never\s+)?(?:go|goes|belongs?)"
    r"\s+(?:in|into|under|next to|to|at|inside|on top of|beside)\s",
    rf"{_LEAD}(?!{_DEFINITE})(?:{_WORDY}+\s+){{0,3}}?{_WORDY}+\s+(?:is|are)\s+(?:strictly |always )?(?:forbidden"
    r"|banned|not allowed|prohibited|off[- ]limits|mandatory)\b",
    r"\bonly (?-i:[A-Z])[a-z]+ (?:may |can )?(?:merges?|publish(?:es)?|pushes|push|tags?|releases?|deploys?"
    r"|approves?)\b",
    # What is done whenever something comes again.
    rf"{_LEAD}{_REPEATED}(?:{_NEW_THING}[^,;]*)[,:]\s*(?!(?:i|we|it|they|he|she|the)\b){_ORDER}",
    rf"{_LEAD}(?:whenever|every time|each time|any ?time)\s+(?:you|we|i|a|an|something|there)\b[^,;]*[,:]\s*(?!(?:i"
    rf"|we|it|they|he|she|the)\b){_ORDER}",
    rf"{_LEAD}{_ORDER}\s[^,;?]*?\b(?:whenever|every time|each time|(?:before|after|with|in|on|for) (?:every|each"
    rf"|any))\s+(?!(?:one|other|file|of)\b)(?:(?:single\s+)?(?:{_WORDY}+\s+)?{_KINDS}\b|you|we|i\b|{_DOING}|push"
    r"|merge|session|task|edit|build|change|step)(?!\s+in\s+(?:the|this)\b)",
    rf"{_LEAD}(?:before|after)\s+(?:every|each|any)\s+[^,;]+,\s*{_ORDER}",
    rf"{_LEAD}(?:always\s+)?(?:ask|check with|consult|tell|warn|confirm with)\s+(?:(?:me|us)\s+)?(?:first\s+)?before"
    rf"\s+(?:you\s+)?(?:{_VERB}|{_DOING})(?:\W*\Z|{_NEW_THING}|\s+to (?:main|master|production|prod)\b)",
    # How it answers and writes.
    rf"{_LEAD}(?:(?:answer|reply|respond|speak|talk|write)(?: to me)?|communicate)\s+(?:only\s+)?in\s+{_LANGUAGE}\b"
    r"(?!\s+(?:and then|then)\b)",
    rf"{_LEAD}(?:answer|reply|respond)\s+(?:to me\s+)?(?:briefly|concisely|shortly|tersely|in (?:short|brief"
    r"|full) \w+)\W*(?:please\W*)?\Z",
    rf"{_LEAD}keep\s+(?:all\s+|your\s+|the\s+)?{_TALK}\s+(?:\w+\s+)?(?:short|brief|concise|terse|to the point|minimal"
    r"|small|simple|under|below|in)\b",
    rf"(?:{_LEAD}|,\s*(?:so|and|please)\s+)keep\s+(?:all\s+|your\s+|our\s+)?(?!{_DEFINITE}){_MANY}{_KINDS}\s+(?:\w+"
    r"\s+)?(?:short|brief|small|simple|pure|sorted|under|below|at|within|focused|atomic|flat|alphabetical|in sync"
    r"|up to date|out of|free of|minimal|private)\b",
    rf"{_LEAD}(?!\w+ (?:all|every) (?:tests?|files?|code|imports?)\b|write (?:\w+ )?tests with)(?:write|format|name"
    r"|sort|order|prefix|group|indent|sign|put|place|store|squash|document|pin|wrap|log)\s+(?:your"
    rf"\s+)?{_MANY}{_KINDS}\s+(?:in|with|without|as|into|under|at|next to|by|before|after|alphabetically|like|using"
    rf"|according)\b(?!\s+(?:this|that|these|those|my|{_WORDY}+\.(?:py|ts|js|go|rs)\b))",
    rf"{_LEAD}(?:follow|stick to|adhere to)\s+(?:the\s+|our\s+)?(?:{_WORDY}+\s+){{0,2}}(?:style ?guide|conventions?"
    r"|coding standards?|guidelines|(?:code |coding )?style)\b",
    rf"{_LEAD}remember to\s+(?!be\b|do\b|take\b|go\b){_VERB}\s+(?!{_DEFINITE}|{_ARTICLE})\S",
    # What "we" do here.
    rf"{_LEAD}(?:{_SCOPE},?\s+)we\s+(?:(?:always|only|never|don't|do not)\s+)?(?:{_VERB})\b",
    rf"{_LEAD}we\s+(?:(?:only|don't|do not)\s+)?(?:use|write|add|mock|commit|indent|name|store|put|format|test|push"
    rf"|squash|merge|rebase)\s+(?!{_DEFINITE}|{_ARTICLE})[^,;?]*?\b(?:here|{_SCOPE})(?:{_COMPARES}|\W*\Z)",
    rf"{_LEAD}we\s+(?:don't|do not)\s+(?:use|write|add|mock|commit|squash|rebase|merge|do|allow|ship)\s+"
    rf"(?!{_DEFINITE}|{_ARTICLE})(?:{_WORDY}+\s+){{0,3}}{_WORDY}+\W*\Z",
)  # fmt: skip
_NONE = (
    # What points at the work at hand.
    r"\b(?:this|these|those)\s+(?!(?:repo|repository|project|code ?base|monorepo|machine|workspace|team|company"
    r"|package|app"
    r"|code|kind|kinds|sort|way|is|means|server|computer|laptop|product|service|library|org|organi[sz]ation)\b)\w+",
    r"\b(?:use|touch|run|change|edit|with|in|for|on|into|from|like|call|try|take|fix)\s+that\s+(?!(?:you|we|the|is"
    r"|are)\b)\w+",
    r"\bthe\s+(?:first|second|third|fourth|last|other|latter|former|next|previous|new|old|one|ones|same|above"
    r"|following|current)"
    r"\b(?!\s+(?:line|letter|word|person|commit))(?=[^,]*\Z)(?<!after the )(?<!to the next)|\b(?:option|variant"
    r"|approach|version)\s+(?:[a-d]|\d|one|two|three)\b",
    r"\b(?:for now|for the moment|for the time being|right now|at the moment|this time|(?:just )?this once|just once"
    r"|today|tonight|tomorrow|yesterday|in this (?:session|pr|commit|branch|file|case|function|chat|conversation"
    r"|task))\b"
    r"|(?<!from )(?<!by )(?<!every )\bnow\b(?! on)",
    # What others say, what is asked or only thought of, and what mocks.
    r"\b(?:he|she|they|someone|somebody|people|docs?|documentation|article|post|readme|error|log|output|message|guide"
    r"|page"
    r"|book|colleague|boss|linter|compiler|lead|team|cto|manager|reviewer|coworker|claude|copilot|gpt|"
    r"(?-i:[A-Z][a-z]+))\s+"
    r"(?:(?:of|from|at|by|in)\s+\S+\s+)?(?:keeps?\s+)?(?:says?|said|told|tells|telling|claims?|claimed|thinks?"
    r"|thought|wrote|wants?"
    r"|wanted|states?|insists?|recommends?|suggests?|complains?|asked|prefers?|likes|believes?)\b|\baccording to\b",
    r"\b(?:maybe|perhaps|probably|possibly|i guess|(?:i'm|am|we're) not sure|wonder(?:ing)?|might|what if|how about"
    r"|in theory|supposedly"
    r"|apparently|i think we|do you think|should (?:i|we)|shall (?:i|we)|wouldn't it|if i were|i wish|used to)\b",
    r"^(?:do|does|did|is|are|was|were|has|have|had|why|what|how|which|who|where|whose|am|should|shall|must)\s+(?!not\b"
    r"|n't)(?:\w+)\b"
    r"(?<!do not)(?<!must not)",
    r"^(?:(?:oh|ah|yeah|wow|sure|right|great|of course)[,\s]+)+(?:sure|right|yes|yeah|great|just|always|never)\b.*"
    r"(?:idea|job|what could|brilliant|genius|nice one)"
    r"|\b(?:great|good|nice|brilliant|lovely|genius|fantastic) (?:idea|job|plan|one)\b|\bwhat could "
    r"(?:possibly )?go wrong\b|🙄|😂|\blol\b|\s/s\W*\Z|\bsarcasm\b",
    # A task that speaks of what always or never is.
    r"^(?:(?:please|pls|ok(?:ay)?|then|and|now|also|can you|could you|would you|you can|i want you to|i need you to"
    r"|let's|next|yes|no|first)[\s,]+)*"
    r"(?:add|write|create|implement|fix|build|generate|rename|update|change|refactor|remove|delete|move|extract|find"
    r"|explain"
    r"|show|tell|list|translate|look|search|make|check|verify|test|document|set up|turn|convert|replace|help|design"
    r"|draft"
    r"|let|give|put|summari[sz]e|review|port|clone|compare|define|configure|see|investigate|debug|describe|document)\b"
    r"(?! sure (?:you|to|we)\b)"
    r".*(?:\b(?:that|which|who|so|where|how|why|whether|to say|saying|says|called|function|class|script|rule|lint"
    r"|hook|button|parser)\b|[\"“`]|QUOTED)",
    r"\bnever give up\b|\bkeep (?:going|it up)\b|^(?:but |and )?i(?:'ll| will)\b|\b(?:never mind|nevermind"
    r"|never gonna|always good|always nice|as always|like always)\b",
    # What was, or only happens.
    r"\b(?:you|it|he|she|they|tests?|build|ci)\s+(?:always|never)\s+\w+(?:s|ed)\b|\b(?:always|never)\s+(?:been|had"
    r"|was|were|got)\b",
    r"\bfor (?:this|that|it|these|those)\W*(?:please\W*)?\Z|\b(?:write|do|fix|build|change|implement) (?:this|it)\W*\Z"
    r"|\bof the (?:file|function|class|page|table|screen|form)\W*\Z|^\W*no (?:tests|comments|changes|code)\W*\Z"
    r"|\bbefore (?:we|you|i) (?:continue|proceed|go on|move on|start\W*\Z)",
    r"^(?!.*\b(?:we|our|always|never|from now on|everyone)\b).*\b(?<!from )here\b",
    r"\b(?:every|each|all|any|conventions?|styles?|patterns?)\b[^,;]* in \S+\.(?:py|tsx?|jsx?|go|rs|java|rb|md|json"
    r"|ya?ml|css|html|sql|sh|c|h|cpp)\b|,\s*(?:please\s+)?(?:add|fix|do)"
    r" (?:them|that|it|those)\b|\bbefore you (?:stop|finish)\b|^stop\b.*\band (?:just )?(?:fix|do|start|finish"
    r"|answer)\b"
    r"|^haha\b|^keep (?:the )?(?:changes|diffs?)\b|\bin the style of\b|^(?:write|put) .* in the (?:readme|docs"
    r"|wiki)\W*\Z"
    r"|^avoid (?:\w+ing (?:the|this|that|my)|regressions|breaking)\b",
    r"^(?:no,? )?use .*\b(?:for|in|on) the (?!\w*(?:repo|project|code|docs|frontend|backend|tests|api|ui"
    r"|logs))\w+\W*\Z",
    r"\bplease fix\b|\bcan you fix\b|\bwhat do you think\b|\bgo on\W*\Z|\bgo ahead\b|\bplease continue\b",
)  # fmt: skip
_IS, _IS_NONE = ([lazy(pattern, _I) for pattern in patterns] for patterns in (_FORMS, _NONE))
_ONCE = lazy(_ONCE_WORDS, _I)
_GENERAL = lazy(rf"\b(?:{_ALWAYS}|from (?:now|here) on|going forward|every|each|whenever)\b", _I)
_SINGLE_QUOTED = lazy(r"(?<!\w)'[^']{3,}'(?!\w)")
_POLITE = lazy(r"^(?:please\s+)?(?:can|could|would|will) you\s+(?:please\s+)?(?:always|never|stop|from now on)\b", _I)


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
    if not any(form.search(said) for form in _IS) or any(form.search(said) for form in _IS_NONE):
        return False
    return _GENERAL.search(said) is not None or _ONCE.search(said) is None
