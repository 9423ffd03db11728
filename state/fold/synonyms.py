"""Words of English that say the same in most texts, everyday and of software, each group in one form.

A word is in one group at most. A group is left out where its words part ways in texts of one subject: a client is a
customer or a program, and an app a form. Words of opposite meaning never share a group, and neither do words of which
one says more. No code that reads a text lives here.
"""

from __future__ import annotations

from functools import lru_cache

from memtape.state.text.terms import IRREGULAR

GROUPS = """
use utilize utilise leverage
begin start commence
buy purchase
need require
live reside dwell
leave depart
allow permit
keep store save retain persist
delete remove erase purge deletion removal
fix repair resolve
delay postpone defer
create generate
show display
answer reply respond response
check verify
choose select pick
change modify alter
finish complete
run execute
try attempt
help assist
fetch retrieve
restart reboot relaunch
reject decline refuse
reduce decrease lower
raise increase
inform notify notification
construct build
contain include
like enjoy
wish want
own possess
shut close
gather collect
link connect hyperlink url
supply provide
handle process
speak talk
expire lapse expiry expiration
occur happen
back-up backup
prohibited forbidden banned disallowed
mandatory compulsory obligatory
database db datastore
directory folder dir
repository repo codebase
documentation docs
configuration config configure
environment env
production prod
application app
authentication auth
certificate cert
bug defect
issue problem
developer programmer
manager boss supervisor
colleague coworker teammate
kid child
mom mum mother
dad father
apartment flat
film movie
car automobile
bicycle bike
phone telephone
photo picture photograph
holiday vacation
doctor physician
lawyer attorney
company firm
cost price
salary wage
limit cap
sofa couch
trash garbage rubbish
journey trip
quick fast rapid speedy
big large
main primary principal
sick ill
glad happy
down offline
wrong incorrect
concise brief
often frequently regularly
usually typically normally generally
now currently presently
approximately roughly circa approx
immediately instantly
directly straight
maybe perhaps
nearly almost
everyone everybody
someone somebody
anyone anybody
nobody no-one
center middle
internet web
mail email
street road
goal aim
deploy deployment
test testing
migrate migration
install installation
approve approval
encrypt encryption
rotate rotation
renew renewal
validate validation
prefer preference
meeting appointment
crack break
slice cut
lady woman
man guy
silent quiet
difficult hard
easy simple
important crucial vital
unavailable inaccessible
obsolete outdated
accurate precise
entire whole
annual yearly
additional extra further
previous prior
mistake error
employ hire
dismiss fire
acquire obtain
attach append
examine inspect
prohibit forbid ban disallow
halt stop
proceed continue
comprehend understand
tidy neat
beverage drink
cab taxi
cinema theater
luggage baggage
elevator lift
pants trousers
sweater jumper
cellphone smartphone
monitor screen
webpage page
sysadmin administrator admin
log-in login signin sign-in
log-out logout
outage downtime
rollback revert
temp temporary
max maximum
min minimum
param parameter
arg argument
func function
pkg package
spec specification
perf performance
doc document
org organization organisation
info information
stats statistics
dept department
mgmt management
"""
"""A line is a group; its first word is what stands for all."""


_NOT_INFLECTED = frozenset("news series species always perhaps besides towards better best worse worst united".split())
_OWN = {"lives": "liv", "use": "use", "uses": "use", "used": "use", "using": "use", "left": "left"}


@lru_cache(maxsize=16_384)
def lemma(word: str) -> str:
    """Return a word without the ending of its inflection, so that all its forms are one; no word that is written."""
    if word in _OWN:
        return _OWN[word]
    if word in _NOT_INFLECTED:
        return word
    word = IRREGULAR.get(word, word)
    if len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 2 and not word.endswith(("ss", "us", "is", "eed")):
            root = word[: -len(ending)]
            if ending == "es" and not root.endswith(("s", "x", "z", "ch", "sh", "o")):
                root += "e"
            if not any(vowel in root for vowel in "aeiouy"):
                return word
            return _bare(root)
    return _bare(word)


def _bare(root: str) -> str:
    """Return a root without its last `e`, and with one consonant where the ending doubled one."""
    if len(root) > 3 and root.endswith("e"):
        return root[:-1]
    doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "aeiouls"
    return root[:-1] if doubled else root


def _concepts() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in GROUPS.split("\n"):
        words = line.split()
        for word in words:
            found[lemma(word)] = lemma(words[0])
    return found


_CONCEPTS = _concepts()


@lru_cache(maxsize=16_384)
def concept(word: str) -> str:
    """Return what stands for a word of lower case and for all that say the same."""
    root = lemma(word)
    return _CONCEPTS.get(root, root)
