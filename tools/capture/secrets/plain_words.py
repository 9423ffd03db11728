"""Passwords of plain words: only the words before them tell, but sentences also describe passwords.

A word is no password if it describes passwords, in the languages of `tools/capture/secrets/said.py`, or if
the sentence goes on after it.
"""

from __future__ import annotations

import re

from memtape.tools.capture.secrets.places import compiled

_WORDS = (
    r"(?i)"
    r"(?:(?:just|simply|einfach|still|now)\s[\"'`“„«]?)?"
    r"(?P<value>[a-z]{3,32}(?:[ _-][a-z]{3,16}){0,7}?)(?![\w@/=(\[{-]|\.\w)"
    r"(?:[\"'`”»」](?![a-z])|[.,;!)*|]+(?![!-~])|です|だ|입니다|이에요|예요|$|\n|\s(?:by\sthe\sway|btw|today|yesterday|now|please|until|til"
    r"|in\scase|for\s(?:everyone|all|every|the|my)|and\s(?:the|my|our|his|her|do|please)|입니다)\b|\s\((?:all|lower|no|yes)\b)"
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
    access admin bitwarden continue connect dashlane depends enter expire found follow keepass keychain keyring
    lastpass login proceed someone somebody unlock vault varchar
    aber aktuell abgelaufen beim bitte derselbe dieselbe dasselbe dort einfach falsch fehlt folgendes geheim gleich
    hier immer jetzt kein keine korrekt kurz lautet leer mindestens nicht noch oben pflicht pflichtfeld richtig
    schwach sicher siehe stark unsicher unter vorhanden zwingend
    aussi celui chiffr correct correcte court encore expir facile faible faux identique incorrect invalide
    manquant mauvais obligatoire perdu requis requise suivant stocke toujours trop valide vide
    buena caduca corta correcta corto debajo demasiado demasiada errada errado facil fraca fuerte forte igual invalida
    incorrecta incorrecto incorreta
    larga longa mala mejor mesma minimo misma muito muita necesaria necessaria nova nueva nunca segura seguro siempre
    sempre vacia valida vazia vieja
    corretta debole doppia errata lunga nuova sbagliata sempre sicura troppo uguale vecchia vuota
    altijd fout geldig goed hetzelfde juist leeg niet nodig onjuist ongeldig sterk veilig verkeerd verlopen
    verplicht zwak
    bardzo dobre inne krotkie nadal podstawa poprawne proste silne takie wymagane zawsze zbyt
    alltid felaktigt inte kort ogiltigt samma stark starkt svagt tomt
    aynen bos dogru eksik gecersiz gerekli guclu hatali yanlis zayif zorunlu
    """.split()
)
"""Words about passwords; so are words that end like participles."""
_TYPES = frozenset(
    """
    string varchar secretstr boolean integer object number buffer bytes postgres password passwort kennwort bcrypt
    """.split()
)
_SAYING = (
    r".*(?:ed|ing|able|ible|less|ful|ous|ive|tion|(?<!f)ly|ized|word|phrase|ment|manager)"
    r"|ge\w+(?:t|en)|(?:ab|ver|be|zer|ent)\w+(?:en|t)|\w+(?:lich|ig|bar|los|isch|haft|lijk|baar|loos|igt|iskt|erat)"
    r"|\w+(?:[aei]d[oa]s?|ori[oa]s?|vel|nte|iv[ao]|[aiu]t[aeo]|ett[ao])|\w+(?:ane|one|any|ony|owe|lne|wne|tne)"
    r"|nie\w+|\w+(?:dir|dur|tir|tur|siz|suz|mis|mus|iyor|uyor)"
)
_ENDING = (
    r".*(?:ed|ing|able|ible|less|sensitive|specific)|only|text|plain|free|based|like|friendly|proof|safe|wide|side|time"
    r"|use|here|hash|store|file|field|name|form|policy|reset|manager|string|value|type|id|key|code|user|admin|auth"
)
_SAYING_MUCH = r".*(?:ed|ing|able|ible)"
_OF_SENTENCES = (
    r"(?i)"
    r"\b(?:the|and|your|for|with|from|are|was|its|should|could|would|them|these|those|our|not|has"
    r"|der|die|das|und|dans|pour|avec|para|como|nel|della|van|het|jest|och|att)\b"
)


def plain_words(text: str, start: int, *, quoted: bool) -> tuple[int, int] | None:
    """Return the span of a plain-word password at a place: a word that ends its sentence, or several drawn
    words.
    """
    found = compiled(_WORDS).match(text, start)
    if found is None:
        return None
    words = re.split("[ _-]", found["value"].lower())
    if words[0] in _NO_PASSWORD or compiled(_SAYING if len(words) < 4 else _SAYING_MUCH).fullmatch(words[0]):
        return None
    if len(words) < 4 and (compiled(_ENDING).fullmatch(words[-1]) or not _TYPES.isdisjoint(words)):
        return None
    if len(words) == 1:
        if len(words[0]) < 6:
            return None
    elif (
        len(words) < (4 if " " in found["value"] and not quoted else 2)
        or compiled(_OF_SENTENCES).search(found["value"])
        or len(max(words, key=len)) > 12
    ):
        return None
    return found.span("value")
