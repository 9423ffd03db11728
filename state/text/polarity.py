"""The polarity of a text, by its words alone: a fact, a rule, a text about memory, or a correction.

A rule is a user's standing wish: "Always …", "Never …", "I prefer …". A text about memory itself ("never
mention X") is no fact about X. Ten languages are read: English, German, Spanish, Chinese, Japanese, and of
rules also French, Russian, Italian, Portuguese and Dutch. Questions, quotations and reports of a habit or of
the past are no rules; the caller decides who may set any.
"""

from __future__ import annotations

import re

import msgspec

from memtape.schemas.patterns import lazy
from memtape.schemas.rows import Polarity
from memtape.state.text.instructing import is_polite, may_instruct, sets_standing
from memtape.state.text.normal import normal_text
from memtape.state.text.orders import has_word_of_order, is_order, may_order
from memtape.state.text.own_words import MOST_CHARS, doubted_words, own_words
from memtape.state.text.remembered import remembered
from memtape.state.text.statement_cues import LEANS_ON

MOST_REMEMBERED = 16_384
"""Texts in the cache: each start reads those of a project again, a long one for some milliseconds."""
MOST_DOUBTED = 12
"""A text with more is a document; its first sentences are asked about."""
_ABROAD = tuple(
    cue.replace("_", " ")
    for cue in """
    immer nie stets sprich antworte schreib répond bevorzug lieber ab_jetzt ab_sofort von_nun bei_uns diesem_projekt
    diesem_repo siempre nunca jamás prefiero prefer partir_de adelante desde_ahora este_proyecto este_repo 始 总 永
    务 从 以 每 一定 绝 千万 喜欢 偏 倾向 宁 今后 toujours jamais préf dorénavant désormais partir_de ici_on
    ce_projet ce_dépôt всегда никогда предпоч отныне впредь sempre mai_ preferi d'ora d’ora da_ora prefiro em_diante
    agora altijd nooit liever voorkeur verkies voortaan vanaf_nu van_nu 必ず 常に いつも 決して 絶対 二度と 今後
    これから 方が ほうが 好
    """.split()
)
"""A text without one of these holds no rule in another language than English."""
CUES = _ABROAD + tuple(
    cue.replace("_", " ")
    for cue in """
    ever forget memory erwähn merk speicher vergiss notier erinner sprich rede_ olvid olvíd mencion guardes guardar
    recuerdes anotes anotar hables hablar 提 记 保存 忘 re_mai 言及 触れ 覚え 記
    """.split()
)
"""A text without one of these, and of `may_instruct`, holds no rule and nothing about memory."""
_ASCII_ABROAD, _ASCII_CUES = (tuple(cue for cue in cues if cue.isascii()) for cues in (_ABROAD, CUES))

_FENCE = lazy(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = lazy(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\n+")
_BULLET = lazy(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_QUOTED = lazy(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|`[^`]*`")
_QUESTION = lazy(r"[?？][\"'”)\]]*\Z|(?:か|吗|呢)[。！]?\Z")

_AVOIR_ETRE = r"ai|as|a|avons|avez|ont|avais|avait|avaient|suis|es|est|sommes|êtes|sont|étais|était|étaient|fut|sera"
_WORK_IT = (
    r"(?:usa|usate|rispond[ie]|rispondete|scriv[ie]|scrivete|esegui|eseguite|controlla|verifica|aggiungi|parla|parlate"
    r"|fai|fate|metti|mantieni|evita|chiedi|lancia|testa|spiega|cita|includi)"
)
_WORK_PT = (
    r"(?:use|usem|responda|respondam|responde|escreva|escreve|execute|rode|verifique|teste|adicione|inclua|mantenha"
    r"|evite"
    r"|faça|fale|coloque|comente|crie|explique|diga|pergunte|cite|peça|deixe|confira)"
)
_WORK_NL = (
    r"(?:gebruik|antwoord|schrijf|test|draai|controleer|voeg|push|commit|houd|hou|spreek|praat|vermijd|maak|zet|geef"
    r"|noem"
    r"|vraag|check|run|doe|laat|voer|vertaal|leg)"
)
_RULES = (
    # German: in front, or right after the imperative that opens the sentence.
    r"(?:^|[,;:–—]\s*|\b(?:bitte|und|aber|sollst|sollt|musst|müsst|soll|sollte|sollen)\s+)"
    r"(?:immer|stets|niemals|nie)\s+(?!(?:dies\w+|sichtbar|war|waren|hatte|hatten|noch|mehr\s+(?:war|hatte)|gewesen"
    r"|gehabt)\b)\w+",
    r"^(?:bitte\s+)?(?!(?:noch|fast|wie|nicht|schon|war|hab|habe|hatte|bin|ist|es|er|ich|du|das|die|der|wir|ihr|man"
    r"|\w+t)\b)"
    r"\w+(?:\s+(?:sie|bitte|mir|uns|dabei|hier|in (?:diesem|unserem) (?:projekt|repo|code)))*"
    r"\s+(?:immer|stets|niemals|nie)\b",
    r"^(?:bitte\s+)?(?:sprich|rede|antworte|schreib)\b.*\b(?:deutsch|englisch)\b",
    r"\b(?:ab jetzt|ab sofort|von nun an)\b",
    r"\b(?:ich|wir)\s+(?:bevorzuge|bevorzugen)\b|\bbevorzuge ich\b|\bmir ist\b.*\blieber\b",
    r"\b(?:ich|wir) (?:hätte|hätten|mag|mögen)\b.*\blieber\b",
    r"(?:^|[,;:]\s*)(?:bei uns|in (?:diesem|unserem) (?:projekt|repo))\s+(?:bitte\s+)?(?:immer|nur|kein\w*|nie|heißen"
    r"|nutzen"
    r"|verwenden|schreiben|benutzen|gilt|werden|wird|(?:nutzen|verwenden|schreiben|benutzen) wir)\b",
    # Spanish.
    r"^en este (?:proyecto|repo(?:sitorio)?)\s+(?:siempre|nunca|no|solo|sólo|usamos|se (?:usa|usan|escribe"
    r"|escriben))\b",
    r"(?:^|[,;:–—]\s*|\b(?:y|pero|favor|debes|debe|deben|hay que)\s+)(?:siempre|nunca|jamás)\s+"
    r"(?!(?:falla|sale|pasa|da|es|está|tarda|devuelve|se|hay|me|lo|he|ha|has|han|hemos|había|habían|hubo|fui|fue|era"
    r"|eran|estuve|estaba|quise|quería|supe|pude|tuve"
    r"|tenía)\b)\w+",
    r"^(?:por favor,?\s+)?(?:us[ae]n?|utilic|utiliz|escrib|respond|contest|ejecut|haz|hagan?\b|pon"
    r"|comprueb|verific|revis|añad|mantén|manten|llam|habl|evit|incluy|dej)\w*\s+(?:siempre|nunca)\b",
    r"\b(?:a partir de ahora|de ahora en adelante|desde ahora)\b",
    r"\b(?:prefiero|preferimos|preferiría|preferiríamos)\b",
    # French: an imperative that opens the sentence, or an infinitive after the word; "il répond toujours" only tells.
    r"^(?:s'il (?:te|vous) pla[iî]t,?\s+|merci de\s+|veuillez\s+)?(?:toujours|ne jamais|n'oublie jamais de)\s+"
    r"\w+(?:er|ir|re)\b",
    rf"^(?:s'il (?:te|vous) pla[iî]t,?\s+)?(?:ne\s+(?:me\s+)?|n')(?!(?:{_AVOIR_ETRE})\b)\w+(?:-\w+)?\s+jamais\b",
    rf"^(?:s'il (?:te|vous) pla[iî]t,?\s+)?(?!(?:{_AVOIR_ETRE}|pas|presque|depuis|comme|encore|plus|alors|mais|parfois"
    r"|même|puis|les|des|mes|nous|vous|ils|elles|elle|je)\b)\w+(?:e|s|ez)(?:-\w+)?\s+toujours\b",
    r"^(?:à partir de maintenant|dorénavant|désormais)\b",
    r"^ici on\s+(?:n'|ne\s+)?(?:utilise|écrit|met|nomme|teste|pousse|commit\w*)\b"
    r"|\bs'(?:écri(?:t|vent)|utilisen?t?|nomment?)\b.*\bdans ce (?:projet|d[ée]p[ôo]t)\b"
    r"|^dans ce (?:projet|d[ée]p[ôo]t),?\s+on\s+(?:utilise|écrit|met|nomme|teste|n')",
    r"\b(?:je préf(?:ère|érerais)|nous préfér(?:ons|erions)|on préfère)\b",
    r"^(?:répond[sz]?|réponds-moi|répondez(?:-moi)?|parle|écris)(?:-moi)?\s+(?:toujours\s+)?en (?:français|anglais"
    r"|allemand)\b",
    # Russian: an imperative after the word or before it.
    r"(?:^|[,;:–—]\s*|\b(?:пожалуйста|и|но)\s+)(?:всегда|никогда)\s+(?:не\s+)?(?!(?:люди|дети|они|одни|сами|мои|твои"
    r"|дни"
    r"|говори никогда)\b)(?:\w+(?:[ауяюе]й|[аяуюе]йте|[шрдтсчжщнв]и|ите)(?:сь|ся)?"
    r"|ставь|добавь|проверь|пушь|оставь|будь|\w+вьте|\w+рьте)\b",
    r"^(?:пожалуйста,?\s+)?(?!(?:николай|чай|май|край|трамвай|случай|урожай)\b)(?:не\s+)?\w+(?:[аую]й|[аую]йте|пиши"
    r"|вори)"
    r"\s+(?:мне\s+|нам\s+)?(?:всегда|никогда)\b",
    r"\b(?:я|мы)\s+(?:бы\s+)?предпоч(?:итаю|итаем|[её]л|ла|ли)\b|^(?:отныне|впредь)\b",
    # Italian.
    rf"^(?:per favore,?\s+)?{_WORK_IT}(?:mi|ci)?\s+sempre\b|^(?:per favore,?\s+)?non\s+\w+[aei]r(?:e|mi|ci)\s+mai\b",
    r"^(?:per favore,?\s+)?(?:sempre|mai)\s+\w{2,}(?:are|ere|ire)\b",
    r"\b(?:preferisco|preferiamo|preferirei|preferiremmo)\b|\b(?:d'ora|da ora) in (?:poi|avanti)\b",
    # Portuguese.
    rf"(?:^|[,;:–—]\s*|\b(?:e|mas|favor)\s+)(?:sempre|jamais)\s+{_WORK_PT}\b",
    rf"^(?:por favor,?\s+)?(?:não\s+)?{_WORK_PT}\s+(?:sempre|nunca|jamais)\b",
    r"\b(?:eu\s+)?(?:prefiro|preferiria)\b|\b(?:a partir de agora|de agora em diante)\b",
    # Dutch.
    rf"^(?:graag\s+|alsjeblieft,?\s+)?{_WORK_NL}(?:\s+(?:me|mij|ons|hier|dit|dat))?\s+(?:altijd|nooit)\b",
    r"^(?:altijd|nooit)\s+.*\b(?:gebruiken|antwoorden|schrijven|testen|draaien|controleren|pushen|committen|spreken"
    r"|vermijden|maken|toevoegen|verwijderen)[.!]*\Z",
    r"\bik (?:heb|had|zie|wil|hebt)\b.*\bliever\b|\bik (?:verkies|geef (?:er )?de voorkeur)\b",
    r"^(?:vanaf nu|van nu af aan|voortaan)\b",
    # Chinese: in front of a clause, or after "please" and "from now on".
    r"(?:^|[，。；、！：,;:]|请你?|以后都?|你要|你应该)\s*(?:始终|总是|永远|务必|一定要|一定不要|绝不|绝对不|千万别|千万不要"
    r"|从今以后|从现在起|从现在开始|每次都|以后请|以后都|以后不要|以后别|今后请|今后都)",
    r"我们?(?:更喜欢|比较喜欢|更偏好|偏好|偏爱|更倾向|倾向于|宁愿|宁可)",
    # Japanese: with a demand at the end.
    r"(?:必ず|常に|いつも|決して|絶対に?|二度と|今後は?|これからは?).*"
    r"(?:ください|下さい|こと|しろ|せよ|ないで|べき|して(?:ね|よ)?|な(?:よ)?|ように)[。！.!]?\Z",
    r"(?:方|ほう)が(?:好き|いい|良い|よい|好ましい)|を好(?:む|みます)|が好みです?",
)
_VALUE = r"(?=.*(?:\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|`|[\"“]|(?-i:(?<=[a-z,'] )[A-Z][\w-]+)))"
_CORRECTIONS = (
    # A value of a thing named before, behind words that call another value wrong.
    r"^(?:(?:oh|ah|hm+|oops|wait|hey|ok(?:ay)?|well|my (?:bad|mistake)|apologies)[,\s]+)*"
    r"(?:(?:no|nope|nah|wrong|actually|correction|not quite|sorry|wait)\b[\s,:!.;—–-]*\s)*"
    r"(?:no|nope|nah|wrong|actually|correction|not quite|sorry)\b"
    rf"[\s,:!.;—–-]*\s(?:actually,?\s+)?{_VALUE}(?:(?:it|this|that|they|he|she|the|my|our|his|her|their)\b"
    r"|(?-i:[A-Z][\w-]+ (?:is|are|has)\b)|[\w.:/-]*\d)",
    r"^(?:sorry,?\s+|no,?\s+|oh,?\s+)*that(?:'s| is| was) (?:wrong|not (?:right|true|correct)|incorrect|outdated)\b",
    r"^(?:sorry,?\s+|no,?\s+|oh,?\s+)*i meant\s+(?!to\b|it\b|well\b|that i\b)\S",
    r"^(?:nein|falsch|korrektur)\s*[,:!.;—–-](?=.*\d)|\bdas stimmt (?:so )?nicht\b|^(?:nein,?\s+)?ich meinte\b",
    r"^(?:no|incorrecto|corrección)\s*[,:!.;—–-](?=.*\d)"
    r"|\beso no es (?:cierto|correcto|así)\b|\bquise decir\b|\bme refería a\b",
    r"^(?:不对|错了|更正|不是)[，。,！!：:]|我的意思是",
    r"^(?:いや|いいえ|違います|違う|訂正)[、。,！!：:]|という意味でした",
)
_MAY_CORRECT = lazy(
    r"\b(?:no|nope|nah|wrong|actually|correction|not quite|sorry|incorrect|outdated|that's not|that is not|that was not"
    r"|meant|nein|falsch|korrektur|stimmt|meinte|incorrecto|corrección|eso no|quise|refería)\b"
    r"|不对|错了|更正|不是|意思|いや|いいえ|違|訂正|意味",
    re.IGNORECASE,
)
"""A text without any of these words is no correction."""
_IS_NO_RULE = lazy(
    r"\b(?:erste|zweite|dritte|letzte|andere)[nrs]?\s+(?:option|variante|version|lösung|idee|vorschlag)\b"
    r"|\b(?:diesmal|heute|vorerst|fürs erste|aujourd'hui|pour l'instant|cette fois|esta vez|por ahora|hoy)\b"
    r"|\b(?:première|deuxième|seconde|troisième|dernière|primera|segunda|tercera|última|prima|seconda) (?:option"
    r"|version|variante"
    r"|solution|idée|opción|versión|opzione|versione|opção|versão)\b"
    r"|\b(?:der|die|das|ein|eine) \w+ (?:soll|sollte|muss|darf)\b"
    r"|\w\(\)|\b(?:le champ|das feld|der benutzer|die benutzer|nutzer|el campo|el usuario|l'utilisateur|il campo"
    r"|l'utente)\b"
    r"|\b(?:in dieser|in diesem (?!projekt|repo)|en est[ae] (?!proyecto|repo)|dans cet?(?:te)? (?!projet"
    r"|d[ée]p[ôo]t))\b"
    r"|\b(?:dit|dice|sagt|sagte|meint|dit que|dice que|disait|decía)\b",
    re.IGNORECASE,
)
"""Signs, in other languages, of a choice of the moment, a report, or a demand on the program instead of a
rule.
"""
_IS_RULE, _IS_CORRECTION = (
    lazy("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE) for patterns in (_RULES, _CORRECTIONS)
)


@remembered(MOST_REMEMBERED)
def polarity(text: str) -> Polarity:
    """Return the polarity of a text: the first of meta, rule and correction in its sentences, else fact.

    Words of another author are no rule, order or correction.
    """
    if not (has_cue(text) or _MAY_CORRECT.search(text.replace("’", "'"))):
        return "fact"
    found = {_of_sentence(sentence): None for sentence in sentences(own_words(text))}
    for kind in ("meta", "rule"):
        if kind in found:
            return kind
    return "correction" if corrections_in(text) else "fact"


@remembered(MOST_REMEMBERED)
def standing(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, in the sender's words, that set standing instructions.

    A rule about "it" or "that" includes the sentence before, or is none without such a sentence, unless the
    text behind a colon explains them. Orders about memory are left out: see `orders_in`.
    """
    return _standing_in(own_words(text)) if has_cue(text) else ()


@remembered(MOST_REMEMBERED)
def doubted(text: str) -> tuple[str, ...]:
    """Return the first doubtful sentences: statements if the sender wrote them, which may be pasted."""
    return _standing_in(doubted_words(text))[:MOST_DOUBTED] if has_cue(text) else ()


def _standing_in(text: str) -> tuple[str, ...]:
    found, before, place = list[str](), -1, 0
    for sentence in sentences(text):
        start = text.find(sentence, place)
        place = max(place, start + len(sentence))
        said = _said(sentence) if len(sentence) <= MOST_CHARS else ""
        if not _asks(said) and _is_rule(said) and not _is_order(said):
            leans = LEANS_ON.search(sentence)
            if leans is None or ":" in sentence[leans.end() :]:
                found.append(sentence)
            elif before >= 0 and start >= 0 and _of_sentence(leant_on := text[before:start].strip()) != "meta":
                found = [*(it for it in found if it != leant_on), text[before:place]]
        before = start
    return tuple(found)


def orders_in(text: str) -> tuple[str, ...]:
    """Return the sentences of a text that are orders about memory, as "never mention X again"."""
    return _orders_in(text) if has_word_of_order(text) else ()


@remembered(MOST_REMEMBERED)
def _orders_in(text: str) -> tuple[str, ...]:
    if not (may_order(text) and has_cue(text)):
        return ()
    return tuple(it for it in sentences(own_words(text)) if may_order(it) and _is_meta(_said(it)))


class Heard(msgspec.Struct, frozen=True, array_like=True):
    """The instructions in a text: standing sentences, orders about memory, and whether any of it `instructs`.

    `doubted` are sentences in force only if a person says so, since they may be pasted.
    """

    standing: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    instructs: bool = False
    doubted: tuple[str, ...] = ()


NOTHING_HEARD = Heard()


def heard_in(text: str) -> Heard:
    """Return the instructions in a text."""
    return Heard(standing(text), orders_in(text), instructs(text), doubted(text))


def corrections_in(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, in the sender's words, that correct an earlier text."""
    if not _MAY_CORRECT.search(text.replace("’", "'")):
        return ()
    return tuple(it for it in sentences(own_words(text)) if _of_sentence(it) == "correction")


@remembered(MOST_REMEMBERED)
def instructs(text: str) -> bool:
    """Return whether any sentence of a text sets a standing instruction, in any context."""
    return has_cue(text) and polarity(text) in ("rule", "meta")


def has_cue(text: str) -> bool:
    """Return whether a text has a word without which it holds no rule and nothing about memory."""
    lowered = text.lower()
    return may_instruct(lowered) or _has_one(lowered, CUES, _ASCII_CUES)


def _has_one(lowered: str, cues: tuple[str, ...], of_ascii: tuple[str, ...]) -> bool:
    return any(map(lowered.__contains__, of_ascii if lowered.isascii() else cues))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without its code and quoted lines."""
    lines = "\n".join(line for line in _FENCE.sub("\n", text).split("\n") if not line.lstrip().startswith(">"))
    found = (_BULLET.sub("", piece or "").strip() for piece in _SENTENCE.split(lines))
    return [sentence for sentence in found if sentence]


def _of_sentence(sentence: str) -> Polarity:
    if len(sentence) > MOST_CHARS:
        return "fact"
    said = _said(sentence)
    if _is_meta(said):
        return "meta"
    if _asks(said):
        return "fact"
    if _is_rule(said):
        return "rule"
    return "correction" if _MAY_CORRECT.search(said) and _IS_CORRECTION.search(said) else "fact"


def _said(sentence: str) -> str:
    return _QUOTED.sub("QUOTED", sentence.replace("’", "'")).strip()


def _asks(said: str) -> bool:
    return _QUESTION.search(said) is not None and not is_polite(said)


def _is_meta(said: str) -> bool:
    return _is_order(said) and not _asks(said)


def _is_order(said: str) -> bool:
    return may_order(said) and is_order(said)


def _is_rule(said: str) -> bool:
    if sets_standing(said):
        return True
    if not _has_one(said.lower(), _ABROAD, _ASCII_ABROAD):
        return False
    return _IS_RULE.search(said) is not None and _IS_NO_RULE.search(said) is None


def same_instruction(text: str) -> str:
    """Return a form of an instruction, equal for its repetitions."""
    return normal_text(text).strip(" .!。！").casefold()
