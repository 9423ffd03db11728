"""Prompts without a request of their own: thanks and farewells, and a nod such as "go on" or "yes please".

English, and the commonest words of German, Spanish and French. A prompt counts only if it has nothing else in
it.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy

MOST_CHARS = 100
"""A longer prompt says more than that."""

_NOD = (
    r"go (?:on|ahead|for it)|continue|carry on|proceed|keep going|next|do (?:it|that|so)|please(?: do)?|pls|yes|yeah"
    r"|yep|yup|sure|ok(?:ay)?|k|alright|all right|right|agreed|exactly|correct|true|fine(?: by me| with me)?|good|great"
    r"|perfect|nice|cool|awesome|excellent|wonderful|lovely|super|got it|i see|understood|makes sense|lgtm|done"
    r"|no|nope|(?:looks|sounds|seems) (?:good|great|fine|right|perfect)(?: to me)?|(?:very )?(?:well done|good job)"
    r"|good work|weiter|mach weiter|ja|bitte|gut|genau|sí|si|sigue|vale|oui|continuez?|d'accord|hmm+|ah|oh|hi|hello|hey"
    r"|good (?:morning|afternoon)|ha(?:ha)+|lol|then|and|so|well|now|one moment|a moment"
)
_GOODBYE = (
    r"(?:many )?thanks(?: a lot| a bunch| so much| again| for (?:your|the|all the|all your) (?:help|work|answers?))*"
    r"|thx|thank you(?: very much| so much| again| for (?:your|the|all the|all your) (?:help|work|answers?))*"
    r"|cheers|ty|much appreciated"
    r"|bye(?:[ -]bye)?|goodbye|good ?night|good evening|(?:see|catch) (?:you|ya|u)(?: all)?|cu|ciao|so long|take care"
    r"|talk (?:to you |soon|later)+|until (?:then|tomorrow|next time|monday)|tomorrow|later|soon|again|around"
    r"|(?:that(?:'s|’s| is|s| was| will be|'ll be)|this is|this was|we(?:'re|’re| are)|i(?:'m|’m| am)) "
    r"(?:it|all|everything|enough|done|finished)(?: (?:i (?:need|needed|wanted|have)|for|from|by|me|us|my|side|today"
    r"|now|then|tonight|the|day))*"
    r"|(?:enough|all|done) (?:for )?(?:today|now)|have (?:a|an) (?:\w+ )?(?:day|evening|night|weekend|one)"
    r"|enjoy (?:your|the) (?:\w+)|(?:i(?:'m|’m| am) )?(?:off|logging off|signing off|heading (?:out|home)|going home)"
    r"(?: for today| now)?|danke(?: schön| dir| sehr)?|vielen dank|tschüss?|bis (?:morgen|dann|bald|später)|feierabend"
    r"|(?:muchas )?gracias|adiós|hasta (?:mañana|luego|pronto)|merci(?: beaucoup)?|au revoir|à demain"
)
_GAP = r"[\s,.;:!…)(\-–—👍🙏🙂😊👋❤️]*"
_IS_NOD = lazy(rf"{_GAP}(?:(?:{_NOD})(?!\w){_GAP})+\Z", re.IGNORECASE)
_IS_GOODBYE = lazy(rf"{_GAP}(?:(?:{_GOODBYE}|{_NOD})(?!\w){_GAP})+\Z", re.IGNORECASE)


def is_nod(prompt: str) -> bool:
    """Return whether a prompt only lets an agent go on with its earlier request."""
    return len(prompt) <= MOST_CHARS and _IS_NOD.match(prompt) is not None


def is_goodbye(prompt: str) -> bool:
    """Return whether a prompt does nothing but thank and part."""
    return len(prompt) <= MOST_CHARS and not is_nod(prompt) and _IS_GOODBYE.match(prompt) is not None
