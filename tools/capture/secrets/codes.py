"""Secrets without a form: numbers of doors and cards, recovery codes, wallet words, one-time-password seeds.

Only the words around them tell, so more such words are required.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, compiled, either, marks, stems

_LOCKED = (
    "door|gate|alarm|entry|entrance|safe|lock(?:box|er)?|key\\s?(?:pad|box)|garage|building|unlock|phone|sim|card|vault"
    "|voicemail|security|access|panel|bike|suitcase|house|office|front|screen|parental|puk|bank|room|debit|credit|voice\\s?mail|intercom|tablet|elevator|lift|parking|mailbox|gym|visa|banking"
)
_PLACES = (
    "porte|portail|portillon|alarme|immeuble|coffre|entrée|puerta|portal|alarma|caja\\sfuerte|edificio|entrada|porta|portão|prédio|cofre"
    "|cancello|allarme|portone|cassaforte|deur|voordeur|poort|kluis|drzwi|bramy|domofonu|alarmu|sejfu|dörren|porten|larmet|kassaskåpet"
    "|двери|домофона|сейфа|сигнализации|подъезда"
)
_CODE = (
    r"(?i)"
    rf"(?:(?<![^\W_])|(?=暗))(?:pins?|(?:lock(?:box|er)|key\s?(?:box|safe))(?=\s?[:=]|\sis\s)|pin[\s-]?(?:code|kod|number|nummer)|p\.i\.n\.|passcode|combination|combo"
    rf"|puk|disarm(?=\swith\s)|apple\sid\s(?:pin|passcode)|bike\slock|gym\slocker|(?:{_LOCKED})[:,]?[\s-](?:pin|code|combination|combo)s?|(?:{_LOCKED})(?=\sopens\swith\s)"
    rf"|(?:code|combination)\s(?:for|of|to)\s(?:\w+\s){{0,3}}(?:{_LOCKED})|(?:tür|haustür|tor|alarm|zugangs"
    rf"|safe|zahlen|geheim|entsperr)-?code"
    rf"|(?:code|código|codice|kod|код)\s(?:pin|(?:(?:de|du|do|da|della|del|dell|di|van|till|от|к|for"
    rf"|d)[\s'’])?(?:(?:la|le|l|el|de|het|il)[\s'’])?(?:{_PLACES}))"
    r"|(?:deur|toegangs|alarm|pin|poort)code|(?:port|dörr|larm|pin|grind)-?kod(?:en)?|kap[ıi]\s(?:kodu"
    r"|şifresi)|alarm\s(?:kodu|şifresi)|пин(?:-?код)?(?:\sкарты)?"
    r"|(?<=[のはを])暗証番号|暗証番号|ドアの?(?:コード|番号)|门禁?(?:密码|代码)|门锁密码|현관\s?비밀번호|도어락\s?비밀번호)"
    r"(?:\s+(?:for|of|to|on|in|at|für|vom|von|der|de|du|do|da|del|di|van|för|till|от|к)(?:\s+[\w-]{1,20}){1,3}?)?"
    r"(?P<by>\s*[:：=]\s*|\s+(?:is|are|was|lautet|ist|est|es|é|è|är|to|jest|—|–|-|now|=|will\sbe|wurde"
    r"|(?:has\sbeen|was)?\s?(?:changed|set|reset)\sto)(?:\s(?:now|jetzt))?:?\s+|\s(?:opens\s)?with\s|→\s?|[:：]\*\*\s*|は|是|为|は、|는|은|\s+)"
    r"[\"'`*#«“„「]?(?P<value>\d(?:[ -]?\d){3,11})(?![\d.,:/-]*\d)(?![A-Za-z0-9_-])#?"
)
_CODE_MARKS = marks(
    (
        "opens with",
        "bike lock",
        "gym lock",
        *"pin code kod código codice combo combination код пин 暗証 ドア 门 현관 도어락 puk disarm".split(),
    )
)
_CODE_STEMS = stems(
    """
    door gate alarm entry entrance safe lock key garage building unlock phone sim card vault voicemail security
    access panel bike
    suitcase house office front screen parental puk bank room debit credit voice intercom tablet elevator lift
    parking mailbox gym visa banking disarm apple
    pin p.i.n. pass combination combo code código codice kod код
    tür haustür
    tor zugangs zahlen geheim entsperr deur toegangs poort port dörr larm grind kap пин 暗証番号 ドア 门 현관 도어락
    """.split()
)
_TYPED = (
    r"(?i)"
    r"(?<![^\W_])(?:enter|type|punch|dial|press|key\sin)\s(?:in\s)?(?P<value>\d{4,8})#?\s(?:on|at|into|in|to|for)\s"
    rf"(?:\w+\s){{0,2}}?(?:keypad|panel|{_LOCKED})(?![a-z])"
)
_IS_CODE = rf"(?i)\sis\sthe\s(?:\w+\s)?(?:(?:{_LOCKED})\s)?(?:pin|code|combination)(?!\s(?:for|review|base|path))"
_CARD = r"(?i)(?<![^\W_])(?:cvv2?|cvc2?)(?:\s?[:=]|\s(?:is|was|code|number))?\s{0,2}(?P<value>\d{3,4})(?![\w-]|[.,]\d)"
_TYPED_STEMS = stems(("enter ", "type ", "punch ", "dial ", "press ", "key in "))
_CARD_STEMS = stems(("cvv", "cvc"))
_IS_CODE_STEMS = stems((" is the ",))
_NUMBER_BEFORE = re.compile(r"(?<![\w.-])(?P<value>\d{4,8})\Z")
_TO_OPEN = re.compile(r"\s(?:to|and)\s(?:unlock|open|enter|log|get|pay)", re.IGNORECASE)
_UNSAID = re.compile(
    r"pins?|passcode|combination|combo|(?:building|house|access|security|panel|front|screen|office|entry)\W.*", re.I
)
"""Called so alone, a number beside it needs a verb or a colon."""

_CODES = (
    r"(?i)"
    r"(?<![^\W_])(?:(?:recovery|backup|rescue|scratch|emergency|restore|one-?time|single-?use|2fa|mfa"
    r"|reset)[\s_-]{1,2}(?:[\w-]{1,12}\s)?(?:codes?|keys?)|bitlocker(?:\skey)?"
    r"|(?:wiederherstellungs|backup|notfall|sicherungs)-?codes?|codes?\sde\s(?:secours|récupération"
    r"|recuperaci[oó]n|recuperação|respaldo|emergencia)"
    r"|codici\sdi\s(?:recupero|backup|riserva)|herstelcodes?|kody\s(?:zapasowe|odzyskiwania)"
    r"|återställningskoder|reservkoder"
    r"|kurtarma\skodlar[ıi]|yedek\skodlar|(?:резервные|коды\sвосстановления|запасные)(?:\sкоды)?|(?:恢复|备用"
    r"|备份)(?:代码|码)|(?:リカバリー|バックアップ|復旧)コード|(?:복구|백업)\s?코드)"
)
_CODES_STEMS = stems(
    """
    bitlocker recovery backup rescue scratch emergency restore one single 2fa mfa reset wiederherstellungs notfall
    sicherungs code codici herstel
    kody återställ reserv kurtarma yedek резервные коды запасные 恢复 备用 备份 リカバリー バックアップ 復旧 복구 백업
    """.split()
)
_ONE_CODE = (
    r"(?<![\w-])(?!\d{4}-\d\d-\d\d(?!\d))(?:[A-Za-z0-9]{2,10}(?:-[A-Za-z0-9]{3,10}){1,7}|[A-Za-z0-9]{8,12}"
    r"|\d{4}\s\d{4}|\d{6})(?![\w-])"
)
_BETWEEN_CODES = r"(?:[\s,;:*•·–|/.()\[\]\"'`>#-]|\b\d{1,2}[.)]|\b(?:and|or|und|et|y|e|en|i|och|ve|и|then|used)\b)*"
_BEFORE_CODES = (
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
    r"|twelve|twenty-four)[\s-]words?|(?:fromMnemonic|from_mnemonic|fromPhrase|HDWalletProvider)(?=\(\")|(?:metamask|ledger|trezor|phantom|wallet)"
    r"\s(?:recovery|backup|words|derive)|write\sthese\sdown)"
    r"[^\n]{0,60}?(?:[\"'`«“„:=：\[(]|\s(?:is|are|ist|lautet|est|es|é|è)|\n|是|は|\)\s|\s(?=1[.)]))\s*"
    r"[\"'`«“„]?(?P<value>(?:\d{1,2}[.):]?\s*)?[a-z]{3,8}(?:[\s,\"']+(?:\d{1,2}[.):]?\s*)?[a-z]{3,8}){11,23})(?![a-z])"
)
_PHRASE_STEMS = stems(
    """
    seed recovery mnemonic backup wallet restore bip metamask ledger trezor phantom wiederherstellungs phrase frase
    hdwallet frommnemonic from_mnemonic fromphrase write
    сид мнемоник 助记词 シード 시드 12 24 twelve twenty
    """.split()
)
_OF_SENTENCES = re.compile(
    r"\b(?:the|and|your|for|with|from|are|was|its|should|could|would|them|these|those|our|not|has)\b", re.I
)
"""Common words that no wallet uses."""

_SEED = (
    r"(?<![^\W_])(?i:2fa|totp|hotp|otp|mfa|two-?factor|authenticator|authy|google\sauth\w*|set-?up\skey|oathtool"
    r"|one-?time\s(?:password|code))[\w\s'-]{0,30}?"
    r"(?i:[:=：(]|\s(?:is|seed|secret|key|code|-b|--base32)|_(?:seed|secret"
    r"|key))(?i:(?:\sfor\s\w+)?[\s:=：(\"'`]*(?:is\s|-d\d\s)?)[\"'`]?"
    r"(?P<value>[A-Z2-7]{16,128}={0,6}|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}"
    r"|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}|(?=[a-z]*\d)[a-z2-7]{16,64})(?![\w-])"
)

_SEED_STEMS = stems("2fa totp hotp otp mfa two-f twof one-t onet auth google oathtool".split(), ("setup key",))

_LICENCE = (
    r"(?i)(?:licen[cs]e(?![a-z])|(?:product|produkt|activation|aktivierungs|registration|cd|serial|windows|office|volume)[\s-]?(?:key|code|number|schlüssel)"
    r"|produktschlüssel|lizenz|slmgr|/ipk|clé\s(?:de\s(?:licence|produit)|d['’]activation)|licencia|licença|licenza|licentie|licencji"
    r"|ライセンス|プロダクトキー|许可证|激活码|产品密钥|라이[선센]스|제품\s?키)[^\n]{0,80}?(?<![\w-])(?P<value>(?-i:"
    r"(?=[A-Z-]*[0-9])(?=[0-9-]*[A-Z])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,7}))(?![\w-])"
)
"""Groups of capitals and digits, after a word for the licensed product."""
_GROUPS = re.compile(r"-[A-Z0-9]{4,8}-[A-Z0-9]{4}")
_LICENCE_STEMS = stems(
    """
    licen product produkt activation aktivierungs registration cd serial windows office volume lizenz slmgr /ipk clé
    ライセンス プロダクトキー 许可证 激活码 产品密钥 라이 제품
    """.split()
)


MAY_NUMBER = either(_CODE_MARKS, _TYPED_STEMS, _CARD_STEMS, _IS_CODE_STEMS, _CODES_STEMS, _LICENCE_STEMS)
MAY_WORD = either(_PHRASE_STEMS, _SEED_STEMS)
"""One of these is in every text that tells a number or code, or the words or seed that opens something."""


def number_codes(places: Places) -> Iterator[FoundSecret]:
    """Yield numbers and codes that a text says to be secret, each with a digit. Takes linear time."""
    text = places.text
    if not places.numbered:
        return
    for found in places.matches(_CODE, _CODE_STEMS) if places.has(_CODE_MARKS) else ():
        if "conduct" not in found[0] and not (
            _UNSAID.fullmatch(found[0][: found.start("by") - found.start()])
            and not found["by"].strip()
            and not _TO_OPEN.match(text, found.end())
        ):
            yield FoundSecret(*found.span("value"), "pin")
    for found in places.matches(_TYPED, _TYPED_STEMS):
        yield FoundSecret(*found.span("value"), "pin")
    for found in places.matches(_CARD, _CARD_STEMS):
        yield FoundSecret(*found.span("value"), "pin")
    for found in places.matches(_IS_CODE, _IS_CODE_STEMS):
        number = _NUMBER_BEFORE.search(text, max(0, found.start() - 16), found.start())
        if number:
            yield FoundSecret(*number.span("value"), "pin")
    for label in places.matches(_CODES, _CODES_STEMS):
        yield from _codes(text, label.end())
    if places.has(_LICENCE_STEMS) and _GROUPS.search(text):
        for found in places.matches(_LICENCE, _LICENCE_STEMS):
            yield FoundSecret(*found.span("value"), "licence-key")


def seeds(places: Places) -> Iterator[FoundSecret]:
    """Yield the words of wallets, and the seeds of one-time passwords. Takes linear time."""
    for found in places.matches(_PHRASE, _PHRASE_STEMS):
        if not _OF_SENTENCES.search(found["value"]):
            yield FoundSecret(*found.span("value"), "seed-phrase")
    for found in places.matches(_SEED, _SEED_STEMS):
        yield FoundSecret(*found.span("value"), "otp-seed")


def _codes(text: str, start: int) -> Iterator[FoundSecret]:
    """Yield the codes after their name, up to the first word of another form."""
    stop = min(len(text), start + MAX_CODES_CHARS)
    before = compiled(_BEFORE_CODES).match(text, start, stop)
    place = before.end() if before else start
    while True:
        gap = compiled(_BETWEEN_CODES).match(text, place, stop)
        found = compiled(_ONE_CODE).match(text, gap.end() if gap else place, stop)
        if found is None or not (any(map(str.isdigit, found[0])) or found[0].isupper() or "-" in found[0]):
            return
        yield FoundSecret(*found.span(), "recovery-code")
        place = found.end()
