"""Secrets that look like nothing: numbers of doors and cards, recovery codes, the words of a wallet, seeds of one-time
passwords, passwords of plain words. Only what is said of them tells, so that more must be said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.assigned import is_no_secret
from memtape.tools.capture.secrets.known import Finding
from memtape.tools.capture.secrets.places import Places

_LOCKED = (
    "door|gate|alarm|entry|entrance|safe|lock(?:box|er)?|key\\s?(?:pad|box)|garage|building|unlock|phone|sim|card|vault"
    "|voicemail|security|access|panel|bike|suitcase|house|office|front|screen|parental|puk|bank"
)
_PLACES = (
    "porte|portail|portillon|alarme|immeuble|coffre|entrée|puerta|portal|alarma|caja\\sfuerte|edificio|entrada|porta|portão|prédio|cofre"
    "|cancello|allarme|portone|cassaforte|deur|voordeur|poort|kluis|drzwi|bramy|domofonu|alarmu|sejfu|dörren|porten|larmet|kassaskåpet"
    "|двери|домофона|сейфа|сигнализации|подъезда"
)
_CODE = (
    r"(?i)"
    rf"(?<![^\W_])(?:pins?|(?:lock(?:box|er)|key\s?(?:box|safe))(?=\s?[:=]|\sis\s)|pin[\s-]?(?:code|kod|number|nummer)|p\.i\.n\.|passcode|combination|combo"
    rf"|(?:{_LOCKED})[\s-](?:pin|code|combination|combo)s?"
    rf"|(?:code|combination)\s(?:for|of|to)\s(?:\w+\s){{0,3}}(?:{_LOCKED})|(?:tür|haustür|tor|alarm|zugangs"
    rf"|safe|zahlen|geheim|entsperr)-?code"
    rf"|(?:code|código|codice|kod|код)\s(?:pin|(?:(?:de|du|do|da|della|del|dell|di|van|till|от|к|for"
    rf"|d)[\s'’])?(?:(?:la|le|l|el|de|het|il)[\s'’])?(?:{_PLACES}))"
    r"|(?:deur|toegangs|alarm|pin|poort)code|(?:port|dörr|larm|pin|grind)-?kod(?:en)?|kap[ıi]\s(?:kodu"
    r"|şifresi)|alarm\s(?:kodu|şifresi)|пин-?код"
    r"|暗証番号|ドアの?(?:コード|番号)|门禁?(?:密码|代码)|门锁密码|현관\s?비밀번호|도어락\s?비밀번호)"
    r"(?:\s+(?:for|of|to|on|in|at|für|vom|von|der|de|du|do|da|del|di|van|för|till|от|к)(?:\s+[\w-]{1,20}){1,3}?)?"
    r"(?P<by>\s*[:：=]\s*|\s+(?:is|are|was|lautet|ist|est|es|é|è|är|to|jest|—|–|-|now|=|will\sbe|wurde"
    r"|(?:has\sbeen|was)?\s?(?:changed|set|reset)\sto)(?:\s(?:now|jetzt))?:?\s+|は|是|为|は、|는|은|\s+)"
    r"[\"'`*#«“„「]?(?P<value>\d(?:[ -]?\d){3,11})(?![\d.,:/-]*\d)(?![A-Za-z0-9_-])#?"
)
_CODE_MARKS = "pin code kod código codice combo combination код пин 暗証 ドア 门 현관 도어락".split()
_CODE_STEMS = tuple(
    """
    door gate alarm entry entrance safe lock key garage building unlock phone sim card vault voicemail security
    access panel bike
    suitcase house office front screen parental puk bank pin p.i.n. pass combination combo code código codice kod код
    tür haustür
    tor zugangs zahlen geheim entsperr deur toegangs poort port dörr larm grind kap пин 暗証番号 ドア 门 현관 도어락
    """.split()
)
_UNSAID = re.compile(
    r"pins?|passcode|combination|combo|(?:building|house|access|security|panel|front|screen|office|entry)\W.*", re.I
)
"""Called so alone, a number beside it needs a verb or a colon."""

_CODES = (
    r"(?i)"
    r"(?<![^\W_])(?:(?:recovery|backup|rescue|scratch|emergency|restore|one-?time|single-?use|2fa|mfa"
    r"|reset)[\s_-]{1,2}(?:[\w-]{1,12}\s)?(?:codes?|keys?)"
    r"|(?:wiederherstellungs|backup|notfall|sicherungs)-?codes?|codes?\sde\s(?:secours|récupération"
    r"|recuperaci[oó]n|recuperação|respaldo|emergencia)"
    r"|codici\sdi\s(?:recupero|backup|riserva)|herstelcodes?|kody\s(?:zapasowe|odzyskiwania)"
    r"|återställningskoder|reservkoder"
    r"|kurtarma\skodlar[ıi]|yedek\skodlar|(?:резервные|коды\sвосстановления|запасные)(?:\sкоды)?|(?:恢复|备用"
    r"|备份)(?:代码|码)|(?:リカバリー|バックアップ|復旧)コード|(?:복구|백업)\s?코드)"
)
_CODES_STEMS = tuple(
    """
    recovery backup rescue scratch emergency restore one single 2fa mfa reset wiederherstellungs notfall sicherungs
    code codici herstel
    kody återställ reserv kurtarma yedek резервные коды запасные 恢复 备用 备份 リカバリー バックアップ 復旧 복구 백업
    """.split()
)
_ONE_CODE = re.compile(
    r"(?<![\w-])(?!\d{4}-\d\d-\d\d(?!\d))(?:[A-Za-z0-9]{2,10}(?:-[A-Za-z0-9]{3,10}){1,7}|[A-Za-z0-9]{8,12}"
    r"|\d{4}\s\d{4}|\d{6})(?![\w-])"
)
_BETWEEN_CODES = re.compile(
    r"(?:[\s,;:*•·–|/.()\[\]\"'`>#-]|\b\d{1,2}[.)]|\b(?:and|or|und|et|y|e|en|i|och|ve|и|then|used)\b)*"
)
_BEFORE_CODES = re.compile(
    r"[^\n]{0,60}?(?:[:：]|\s(?:are|is|ist|est|es|sind|sont|son|são|sono|zijn|är|to|now)\s)\s*"
    r"|[^\n]{0,20}?\s(?=\S*\d)|は|是"
)
MAX_CODES_CHARS = 1_000

_PHRASE = (
    r"(?i)"
    r"(?<![^\W_])(?:(?:seed|recovery|mnemonic|backup|wallet|restore)[\s_-]?(?:phrases?|words|sentence"
    r"|seed)|mnemonic|seed|bip-?39|(?:metamask|ledger|trezor|phantom|wallet)(?=\s?:)"
    r"|(?:wiederherstellungs|seed|wallet)-?(?:phrase|wörter)|phrase\s(?:de\srécupération|secrète"
    r"|mnémonique)|frase\s(?:semilla|de\srecuperaci[oó]n|secreta|di\srecupero)"
    r"|frase\s(?:semente|de\srecuperação)|сид-?фраза|мнемоник\w*|助记词|シードフレーズ|시드\s?(?:구문|문구)|(?:12|24"
    r"|twelve|twenty-four)\swords)"
    r"[^\n]{0,60}?(?:[\"'`«“„:=：\[(]|\s(?:is|are|ist|lautet|est|es|é|è)|\n|是|は|\s(?=1[.)]))\s*"
    r"[\"'`«“„]?(?P<value>(?:\d{1,2}[.):]?\s*)?[a-z]{3,8}(?:[\s,\"']+(?:\d{1,2}[.):]?\s*)?[a-z]{3,8}){11,23})(?![a-z])"
)
_PHRASE_STEMS = tuple(
    """
    seed recovery mnemonic backup wallet restore bip metamask ledger trezor phantom wiederherstellungs phrase frase
    сид мнемоник 助记词 シード 시드 12 24 twelve twenty
    """.split()
)
_OF_SENTENCES = re.compile(
    r"\b(?:the|and|your|for|with|from|are|was|its|should|could|would|them|these|those|our|not|has)\b", re.I
)
"""Common words that no wallet uses."""

_SEED = (
    r"(?<![^\W_])(?i:2fa|totp|hotp|otp|mfa|two-?factor|authenticator|authy|google\sauth\w*|oathtool"
    r"|one-?time\s(?:password|code))[\w\s'-]{0,30}?"
    r"(?i:[:=：(]|\s(?:is|seed|secret|key|code|-b|--base32)|_(?:seed|secret"
    r"|key))(?i:(?:\sfor\s\w+)?[\s:=：(\"'`]*(?:is\s|-d\d\s)?)[\"'`]?"
    r"(?P<value>[A-Z2-7]{16,128}={0,6}|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}"
    r"|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}|(?=[a-z]*\d)[a-z2-7]{16,64})(?![\w-])"
)

_WORDS = (
    r"(?im)"
    r"(?<![^\W_])(?:(?:pass(?:word|phrase|code)|pw)(?:\s(?:for|of|to"
    r"|on)(?:\s[\w.-]{1,20}){1,4}?)?(?:\s(?:is|was|will\sbe|=)(?:\snow)?:?|\s?:)"
    r"|(?:passwort|kennwort|passphrase)(?:\s(?:für|vom|von"
    r"|zum)(?:\s[\w.-]{1,20}){1,4}?)?(?:\slautet(?:\sjetzt)?:?|\s?:))\s+[\"'`“„«]?"
    r"(?P<value>[a-z]{3,16}(?:[ -][a-z]{3,16}){0,7})(?=[\"'`”»]?(?:[.,;!)]*(?:\s"
    r"|$)))(?P<after>[\"'`”»]?[.,;!)]+|[\"'`”»]?$|\n|[^\n]{0,20})"
)
_NO_PASSWORD = frozenset(
    """
    above absent accepted active again allowed already also always ancient annoying another any available away
    awesome awful back bad based because before being below better blank broken both bound broke cached called case
    changed checked clear cleartext common compared complex compromised configured confidential correct crap current
    currently cut dead default different difficult disabled done dumb easy either empty encoded encrypted enforced
    enough entered essential even every exactly exposed expired false fine first fixed forgotten found free full
    generated given gone good great guessable hard hardcoded hashed here hidden identical illegal immutable
    important inactive incorrect insecure inside instead insufficient intact invalid irrelevant itself just kept
    known late leaked legacy less like likely limited locked long lost lower lowercase made mandatory many masked
    matching maybe mine missing mixed more most much must mutable necessary needed needs neither never nice none
    nonempty nothing now null numeric obsolete obvious okay old once only open optional outdated over overwritten
    part pending perfect plain plaintext possible present printed private probably protected public random rarely
    read readable ready really recent rejected reported required reset resettable restricted reused right rotated
    safe salted same saved secret secure seen sensitive sent separate set several shared short shown similar simple
    some somehow something somewhere soon spelled static still stored strange string strong stupid such supposed
    temporary terrible text that their then there this though three through together too trivial true two unchanged
    undefined under undocumented unencrypted unique unknown unlocked unset unsafe unused updated upper uppercase
    used useless user usually valid validated verified very visible weak weaker well what when where which whoever
    whatever within without wrong yours anders wie nicht immer noch folgt sorted encoded typed pasted asked nowhere
    everywhere unnecessary elsewhere handled managed written yesterday tomorrow tonight today
    """.split()
)
"""What is said of passwords; what ends in `-ed`, `-ing` and the like is too."""
_TYPES = frozenset(
    "string varchar secretstr boolean integer object number buffer bytes postgres password passwort kennwort".split()
)
_SAYING = re.compile(r".*(?:ed|ing|able|ible|less|ful|ous|ive|tion|ly|ized|word|phrase|ment|manager)$")


def said_codes(places: Places) -> Iterator[Finding]:
    """Yield numbers, codes, seeds and words that a text says to be secret. Takes linear time."""
    text = places.text
    for found in places.matches(_CODE, _CODE_STEMS) if places.numbered and places.has(_CODE_MARKS) else ():
        if "conduct" not in found[0] and not (
            _UNSAID.fullmatch(found[0][: found.start("by") - found.start()]) and not found["by"].strip()
        ):
            yield Finding(*found.span("value"), "pin")
    for label in places.matches(_CODES, _CODES_STEMS) if places.numbered else ():
        yield from _codes(text, label.end())
    for found in places.matches(_PHRASE, _PHRASE_STEMS):
        if not _OF_SENTENCES.search(found["value"]):
            yield Finding(*found.span("value"), "seed-phrase")
    for found in places.matches(
        _SEED, ("2fa", "totp", "hotp", "otp", "mfa", "two", "one", "auth", "google", "oathtool")
    ):
        yield Finding(*found.span("value"), "otp-seed")
    for found in places.matches(_WORDS, ("pass", "pw", "kennwort")):
        words = re.split("[ -]", found["value"])
        if _is_said(words, found):
            yield Finding(*found.span("value"), "password")


def _codes(text: str, start: int) -> Iterator[Finding]:
    """Yield the codes that follow their name, up to the first word that is none."""
    stop = min(len(text), start + MAX_CODES_CHARS)
    before = _BEFORE_CODES.match(text, start, stop)
    place = before.end() if before else start
    while True:
        gap = _BETWEEN_CODES.match(text, place, stop)
        found = _ONE_CODE.match(text, gap.end() if gap else place, stop)
        if found is None or not (any(map(str.isdigit, found[0])) or found[0].isupper() or "-" in found[0]):
            return
        yield Finding(*found.span(), "recovery-code")
        place = found.end()


def _is_said(words: list[str], found: re.Match[str]) -> bool:
    """Whether plain words are a password: one that ends what is said, or four and more that were drawn."""
    if any(word.lower() in _NO_PASSWORD or _SAYING.fullmatch(word.lower()) for word in words[:1]):
        return False
    ended = not found["after"] or found["after"][0] in "\n.,;!)\"'`”»"
    if len(words) == 1:
        return ended and len(words[0]) >= 6 and not is_no_secret(words[0]) and words[0].lower() not in _TYPES
    quoted = found.string[found.start("value") - 1] in "\"'`“„«"
    return (
        len(words) >= (2 if quoted else 4)
        and ended
        and not any(len(word) > 12 for word in words)
        and not _OF_SENTENCES.search(found["value"])
    )
