"""Patterns, by subject, that keep an English sentence from setting a standing instruction, in any form."""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.state.text.instructing_pieces import ALWAYS, NOT, PLACE
from memtape.state.text.instructing_words import KINDS, PRODUCT, STYLES, TASKS, VERBS

_I = re.IGNORECASE
NONE = (
    # References to the work at hand or to a moment.
    rf"\b(?:this|these|those)\s+(?!(?:{PLACE}|app|to (?:claude|agents|your)|kinds?|sort|way|is|means|server|computer"
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
    # Words of others, or of a past state.
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
    # Questions, suppositions, mockery.
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
    # The past, mere events, and sayings.
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
    rf"^(?!.*\b(?:we|our|always|never|from now on)\b)(?:(?:please|no|ok|and|also)[\s,]+)*(?:{VERBS}|{NOT}"
    rf"|no)\s.*(?<!from )\bhere\b|\bin \w+\(\)",
    r"^no [^,]*, (?:just|only|give|show)\b|^stop\b.*\b(?:i'm|i am|found|already|let's|wait|enough|there)\b",
    r"\bplease fix\b|\bcan you fix\b|\bwhat do you think\b|\bgo on\W*\Z|\bgo ahead\b|\bplease continue\b",
)  # fmt: skip
ONCE = lazy(
    r"\b(?:yet|while (?:i|we)(?:'m|'re| am| are)?|meanwhile|as well|again|still"
    r"|instead\W*\Z|first\W*\Z|for (?:the|an?) \w+(?: \w+)?\W*\Z)\b",
    _I,
)
GENERAL = lazy(rf"\b(?:{ALWAYS}|from (?:now|here) on|going forward|every|each|whenever|off[- ]limits|we still)\b", _I)
