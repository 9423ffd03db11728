"""Words of English that say about the same where all the rest of two texts is the same; data alone.

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
make create generate produce build creation
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
important crucial vital essential
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
tyre tire
metre meter
programme program
mould mold
learnt learn
kerb curb
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
alert alarm warning
invoice bill
staff personnel crew employee employees
rehearsal rehearse practice practise
coach trainer
rear back
loud noisy
overdue late
swap exchange substitute
relocate shift migrate migration transfer
reschedule postpone
author write
consume eat
carry bring
wash clean
mend repair
undo revert rollback
emit produce
yield return
inspect examine
assign allocate
aware know
chair head lead
peculiarity quirk
firm company
destroy break
prevent block
midday noon
pupil student
lesson course
gig concert
association club
dues fee
notebook laptop
tidy clean
omit skip
praise compliment
purpose intention intent aim
tell inform
supervise oversee
conduct perform
await wait
attempt try
assemble build
dwell live
fasten attach
purge wipe
border edge
duration length
identical same
concurrently simultaneously parallel
shortly soon
initially originally
eventually finally
entirely completely fully totally wholly
mainly mostly primarily chiefly largely
directly straight
quickly rapidly swiftly fast
sufficient adequate
incoming inbound
outgoing outbound
disconnect unplug
salary pay
vet veterinarian
pharmacy chemist
supermarket grocery
canteen cafeteria
basement cellar
attic loft
fridge refrigerator
stove cooker
tap faucet
torch flashlight
lorry truck
motorway highway
pavement sidewalk
railway railroad
timetable schedule
diary calendar
"""
"""A line is a group; a word that stands in several is of the first."""

ASIDE = """
too also still then there here now currently presently present current just simply really very actually basically
together own located situated called named namely altogether so therefore thus hence always ever already however onto
along away back do doing done such certain particular respective respectively existing
"""
"""Words that say nothing more."""

LIGHT = """
host file number set kind sort type thing item one ones make get give find see happen occur exist use hold go come take
apply way case following up whole entire system process period purpose basis piece bit amount keep stay remain lie sit
stand live put hang place
"""
"""Words that one of two texts may have where the other has no other word for them."""

MEASURED = "long old high large late"
"""Words that a text may have alone where an amount is said."""

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
