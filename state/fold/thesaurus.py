"""Words and phrases of English that say about the same where all the rest of two texts is the same; data alone.

These are looser than `synonyms`, of which texts differ in nothing else and no vector is asked. Words of opposite
meaning, and words that are values of one thing, as two places or two environments, never share a line. No code that
reads a text lives here.
"""

from __future__ import annotations

GROUPS = """
use usage apply utilize utilise leverage
start begin launch kick initiate commencement beginning
end finish complete completion conclude
stop halt cease discontinue
stay remain keep retain store save persist retention storage
make create generate produce build production creation
get receive obtain fetch acquire pull retrieve
send deliver delivery transmit dispatch submit pass forward submission
go move travel
come arrive arrival
reach hit attain
show display appear visible
see view look
tell inform notify notification
ask request inquire
answer reply respond response
choose pick select opt decide choice decision selection
agree agreement consent
want wish desire
need require requirement necessary demand
mandatory obligatory compulsory
allow permit permission permitted let
forbid prohibit ban disallow forbidden prohibited banned
avoid shun
refuse reject decline deny rejection refusal
approve approval authorize greenlight
accept acceptance
replace substitute replacement supersede
change modify alter edit adjust modification alteration
update refresh
upgrade bump
remove delete erase purge drop discard clear throw removal deletion abandon
fix repair resolve solve
fail failure break crash breakdown
lose loss
pay payment
buy purchase
cost price
sell sale
rent lease
book booking reserve reservation
cancel cancellation
delay postpone defer
plan schedule arrange
meet meeting
gather collect collection
combine merge join
split divide division
compare comparison
check verify inspect examine verification inspection
test testing
measure measurement
calculate compute computation calculation
count tally
watch monitor observe track
find discover locate detect discovery
write record
describe description explain explanation
define definition specify
contain include comprise
own belong ownership owner
maintain maintenance manage
handle process treat
run execute perform performance execution
operate operation
provide supply offer
give grant
publish release ship publication
deploy deployment rollout
install installation
configure configuration config set setting setup
enable activate
disable deactivate
close shut
encrypt encryption
compress compression
convert transform conversion
translate translation
compile compilation
sync synchronize synchronise synchronization
copy duplicate
rotate rotation
renew renewal
expire expiry expiration
increase raise grow growth
decrease reduce lower cut shrink reduction
extend extension prolong
limit cap restrict restriction
cause trigger
affect influence impact
help assist support assistance
protect guard protection
prefer preference favor
like enjoy
think believe
learn study
train training
work function
live reside
hire employ
quit resign
marry marriage wed
attach append fasten
connect link connection
depend dependency dependent rely
refer reference
happen occur
involve concern
warn warning
ignore skip omit
restart reboot
restore recover recovery
back-up backup
clean cleanup
big large huge
small little tiny
main primary principal chief
whole entire full
quick fast rapid swift
easy simple
hard difficult tough
important crucial vital key essential
correct right
wrong incorrect mistaken
ill sick
afraid scared
happy glad
clever smart
silent quiet
short brief concise
empty blank
broken faulty defective
safe secure
expensive costly dear
cheap inexpensive
strange odd weird
obsolete outdated deprecated stale
usual normal typical typically normally usually generally ordinarily
often frequently
rarely seldom
immediately instantly
automatically auto automatic automated automate
manually manual
directly straight
approximately roughly circa approx
almost nearly
exactly precisely
maybe perhaps possibly
final last
additional extra further
previous former prior formerly previously
current currently now present presently
separate distinct
same identical
similar alike
different differ difference
mom mum mother
dad father
kid child
baby infant
grandma grandmother
grandpa grandfather
doctor physician
teacher instructor
boss manager supervisor
colleague coworker
developer programmer dev engineer
employee staff
database db
directory folder dir
repository repo codebase
documentation docs doc
environment env
application app
authentication auth
authorization authz
certificate cert
bug defect
error mistake
issue problem trouble
function func
parameter param
argument arg
variable var
package pkg
dependency dep
library lib
specification spec
statistic stat
information info
message msg
image img
picture photo photograph
video clip
minimum min
maximum max
average mean
number amount quantity
kubernetes k8s
postgres postgresql
javascript js
typescript ts
integer int
string str
boolean bool
pr merge-request
car automobile vehicle
bike bicycle
phone telephone
apartment flat
house home
garden yard
trip journey tour
holiday vacation
film movie
sofa couch
garbage trash rubbish
medicine medication drug
disease illness
dinner supper
exam examination
task job
company firm
salary wage
goal aim target
result outcome
rule policy
agreement contract
length long
width wide
height high
weight weigh
part portion
kind sort type
way manner
place location spot
overview summary
"""
"""A line is a group; a word that stands in several is of the first."""

PHRASES = """
no later than = by
not later than = by
at the latest =
by no later than = by
ahead of = before
in advance of = before
earlier than = before
later than = after
pull request = pr
pull requests = pr
merge request = pr
merge requests = pr
prs = pr
hand in = submit
hands in = submit
handed in = submitted
turn in = submit
turned in = submitted
by hand = manually
would rather have = prefer
would rather = prefer
rather than = not
instead of = not
in place of = not
as opposed to = not
and not = not
but not = not
with no = without
no longer = not nolonger
not any longer = not nolonger
not anymore = not nolonger
not any more = not nolonger
any longer = nolonger
anymore = nolonger
apart from = except
with the exception of = except
except for = except
except in = except
other than = except
due to = because
owing to = because
because of = because
on account of = because
thanks to = because
as a result of = because
the reason being = because
given that = because
which is why = so
that is why = so
this is why = so
for that reason = so
for this reason = so
in order to = to
so that = to
so as to = to
in case of = if
in case = if
in the event of = if
in the event that = if
provided that = if
as long as = if
as soon as = when
even though = although
in spite of = although
despite = although
starting in = from
starting on = from
starting from = from
starting with = from
beginning in = from
beginning on = from
from now on = from now
as of = from
on behalf of = for
in favor of = over
in favour of = over
has to = have-to
have to = have-to
had to = have-to
having to = have-to
needs to = have-to
need to = have-to
is required to = have-to
are required to = have-to
is obliged to = have-to
are obliged to = have-to
is supposed to = should
are supposed to = should
it is necessary to = have-to
is allowed to = may
are allowed to = may
is permitted to = may
are permitted to = may
is not allowed to = may not
are not allowed to = may not
is not permitted to = may not
are not permitted to = may not
is able to = can
are able to = can
is possible = can
is going to = will
are going to = will
am going to = will
you will find =
you can find =
you will see =
it turns out that =
it turned out that =
it was found that =
it is known that =
in general =
in total = altogether
all of = all
both of = both
most of = most
some of = some
each of = each
many of = many
none of = none
one of = one-of
get rid of = remove
gets rid of = removes
got rid of = removed
take off = remove
takes off = removes
took off = removed
taken off = removed
put off = postpone
puts off = postpones
call off = cancel
calls off = cancels
called off = cancelled
shut down = disable
shuts down = disables
switch off = disable
switches off = disables
switched off = disabled
turn off = disable
turns off = disables
turned off = disabled
switch on = enable
switches on = enables
switched on = enabled
turn on = enable
turns on = enables
turned on = enabled
gets in = arrives
get in = arrive
got in = arrived
find out = discover
found out = discovered
set up = configure
sets up = configures
carry out = perform
carries out = performs
carried out = performed
look after = maintain
looks after = maintains
looked after = maintained
in charge of = responsible
responsible for = responsible
point out = mention
give up = abandon
throw away = discard
thrown away = discarded
take place = happen
takes place = happens
took place = happened
make use of = use
makes use of = uses
goes above = more than
go above = more than
rises above = more than
rise above = more than
exceeds = more than
exceed = more than
exceeding = more than
goes below = less than
drops below = less than
falls below = less than
drop below = less than
fall below = less than
in excess of = more than
as well as = and
along with = and
together with = and
in addition to = and
at the same time = simultaneously
at once = immediately
right away = immediately
straight away = immediately
at the moment = currently
right now = currently
for the time being = currently
for now = currently
these days = currently
at present = currently
every time = when
each time = when
time zone = timezone
data set = dataset
file name = filename
web site = website
user name = username
check in = checkin
log in = login
sign in = login
back up = backup
backs up = backup
backed up = backup
roll out = deploy
rolls out = deploys
rolled out = deployed
roll back = revert
rolled back = reverted
rolls back = reverts
out of date = outdated
up to date = current
a couple of = couple
a few = a-few
a lot of = many
lots of = many
plenty of = many
a number of = several
per cent = %
longer than = more long than
older than = more old than
higher than = more high than
larger than = more large than
bigger than = more large than
greater than = more than
broke down = breakdown
breaks down = breakdown
broken down = breakdown
"""
"""A line is a phrase and what is read for it. They are read after the phrases of `classes`."""

LIGHT = """
host file number set kind sort type thing item one ones do does did doing done make get give find see happen occur
exist currently now present current just simply really very actually basically together own located situated called
named namely there here also too still then use go come take apply way case following altogether
so therefore thus hence such certain particular respective respectively up out away back onto along however
always ever already whole entire long old high large late
"""
"""Words that one of two texts may have alone."""

VERBS = """
access admit affect aim alert announce apply approve arrange attach award bake beat begin belong block blow break breed
bring buy call cancel carry catch cause chair change charge chase choose claim collect come compress confirm consist
convert cook cover crash cut damage deal decide define deliver depend derive design detect die dispatch draw drink emit
enter estimate evaluate exceed exchange expect explain export fall feed feel fetch fight fill find fit fly forget
forward freeze generate grow guard handle hang hate hear help hide hit hold hurt import include inform inherit inspect
issue join keep kick kiss know land lay lead learn lend let lose love lower maintain mentor miss mount offer operate
order outrank override owe oversee overwrite own paint parse participate pick plant play praise prefer prepare present
press prevent produce promise protect prove provide pull push query quote rate reach receive recommend record redirect
refer refuse regenerate register reject rely remind rent replace reply report request resize resolve respond return
ride ring rise route rule sell send serve shake share shoot shout sign sing sit skip sleep sort speak spend split
stand steal stick stop stream strike succeed suggest supervise swim take talk teach tear tell thank think throw touch
trade transfer travel trigger trust try turn understand verify vote wake wash water wear win wipe wrap write yield
"""
"""Verbs beside those of `classes`."""
