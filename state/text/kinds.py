"""Words that name a kind, and words of its members: a question for instruments means violins and drums too.

English, of everyday life and of software. A kind has the members that most people would name first, and no
list is complete. Members are found by these words in texts that do not name the kind. No code that reads a
text lives here.
"""

from __future__ import annotations

from functools import lru_cache

from memtape.state.text.terms import ENGLISH, terms

_KINDS = """
activity hobby pastime leisure: hiking camping swimming running jogging cycling biking fishing gardening painting
  drawing pottery knitting sewing cooking baking reading writing dancing singing photography gaming yoga skiing surfing
  climbing volunteering crafts puzzles chess woodworking travelling kayaking skating bowling karaoke
sport athletics: football soccer basketball baseball tennis golf hockey volleyball badminton cricket rugby swimming
  running cycling skiing snowboarding surfing boxing wrestling rowing skating climbing gymnastics
exercise workout fitness: running jogging yoga pilates weights weightlifting squats cardio aerobics cycling swimming
  boxing kickboxing stretching gym treadmill marathon rowing dancing
martial: karate judo taekwondo kickboxing boxing aikido jujitsu kung capoeira fencing wrestling kendo sparring
dance: ballet salsa tango hip-hop contemporary waltz jazz swing flamenco choreography
instrument: piano guitar violin cello flute clarinet saxophone trumpet drums harp ukulele bass banjo accordion harmonica
  keyboard trombone viola oboe
genre music: jazz rock pop classical blues folk rap country metal reggae opera techno punk soul concert band singer
  album song
concert show performance: band singer stage orchestra festival gig theater musical audience tickets
pet animal: dog puppy cat kitten rabbit hamster parrot bird fish turtle snake lizard horse goat hen
food dish meal cuisine recipe: pizza pasta soup salad sandwich burger curry rice noodles sushi tacos stew steak chicken
  bread cheese roast lasagna omelette dumplings
dessert sweet snack: cake pie cookies brownies ice-cream pudding chocolate pastry muffin donut tart cupcake candy
  cheesecake popcorn
drink beverage: coffee tea juice water wine beer soda smoothie milk cocktail lemonade whisky
fruit: apple banana orange strawberry blueberry mango grape peach pear cherry lemon pineapple melon
vegetable: carrot potato tomato onion spinach broccoli pepper lettuce cabbage cucumber pumpkin beans
family relative: mother mom father dad parents sister brother son daughter wife husband aunt uncle cousin grandmother
  grandma grandfather grandpa niece nephew kids
child kid: son daughter baby toddler boy girl twins brother sister
parent: mother mom father dad
sibling: brother sister twin
friend: buddy mate neighbour colleague roommate met
pronoun identity gender: woman man transgender nonbinary gay lesbian straight
job profession career occupation: engineer teacher nurse doctor lawyer designer manager chef writer artist accountant
  counselor therapist consultant developer scientist banker driver journalist musician officer coach
education degree study: university college school bachelor master phd course class diploma psychology biology history
  law economics mathematics engineering certificate exam
vehicle transport: car bike bicycle bus train plane truck motorcycle boat van scooter tram ferry
country nation abroad: france germany italy spain england britain ireland scotland sweden norway denmark finland poland
  portugal greece turkey japan china india thailand korea australia canada mexico brazil argentina egypt kenya morocco
  switzerland austria netherlands russia
city town: london paris rome berlin madrid barcelona vienna amsterdam prague lisbon dublin tokyo seoul beijing sydney
  toronto vancouver boston chicago seattle angeles francisco miami denver austin dubai mumbai istanbul athens
state region: california texas florida oregon washington colorado nevada virginia georgia ohio michigan minnesota
  bavaria tuscany
place location spot: park beach mountain lake forest river museum restaurant cafe gym church library school office city
  village island desert shelter garden
outdoors outdoor nature: hiking camping fishing climbing mountaineering kayaking rafting skiing surfing picnic trail
  forest mountain lake beach river waterfall
trip vacation holiday travel: flight hotel beach camping cruise roadtrip abroad island resort airport luggage visited
event gathering: concert festival wedding party conference workshop meeting parade exhibition fair ceremony fundraiser
  race competition picnic barbecue
celebration occasion: christmas easter thanksgiving halloween birthday anniversary wedding graduation
art craft: painting drawing sculpture pottery sketch portrait watercolor mural ceramics collage photography embroidery
picture photo: sunset sunrise landscape portrait camera selfie view
book: novel author chapter read story memoir fantasy trilogy poem library
movie film: watched cinema comedy thriller drama actor director trilogy scene horror
game: chess console playstation xbox nintendo puzzle cards poker multiplayer tournament boardgame
clothing clothes garment: shirt dress shoes jacket coat hat sweater jeans skirt boots scarf gloves suit
item thing gift present object possession: necklace ring bracelet watch flowers card toy camera bag shoes mug candle
  bowl souvenir jewelry
furniture: table chair sofa couch bed desk shelf lamp rug cupboard
color colour: red blue green yellow purple orange pink black white brown grey
emotion feeling mood: happy sad angry afraid anxious nervous proud excited grateful lonely stressed calm joyful
destress relax unwind: yoga meditation reading music walk running bath massage breathing hiking gardening nap
health illness injury disease condition ailment: cold flu fever asthma allergy diabetes cancer injury surgery pain
  migraine headache sprain broken depression infection
medicine treatment: pill antibiotic therapy surgery insulin vaccine painkiller aspirin
problem challenge difficulty setback struggle damage: accident lost broke failed injury stress rejected delay fired debt
  stolen
support: friends family mentor colleague therapist encouraged helped
charity cause volunteer volunteering: homeless shelter donation fundraiser veterans hospital orphanage animal
  environment kitchen
community group organization club: church team association union activist gym class
disaster weather: rain storm flood snow hurricane earthquake wildfire drought tornado
relationship marital: single married divorced engaged dating partner boyfriend girlfriend husband wife breakup
religion religious faith: church prayer god bible mosque temple pray
politics political: vote election campaign liberal conservative party rights policy candidate
money finance financial: salary rent loan mortgage savings budget tax debt invest
asset property: house home apartment land car savings account stock jewelry painting
business company: startup shop store bakery studio restaurant agency firm
device gadget electronics: phone laptop tablet camera printer headphones television monitor
plant flower: rose tulip sunflower lily orchid succulent fern daisy basil tree
symbol: flag cross heart star eagle rainbow dove necklace tattoo
skill: cooking coding writing speaking negotiation leadership
goal plan dream ambition: hope want aim save become start finish
tongue foreign: english french german spanish italian japanese chinese arabic russian portuguese korean hindi
programming language: python javascript typescript java rust go ruby elixir kotlin swift php scala haskell
database datastore: postgres postgresql mysql sqlite mongodb redis cassandra dynamodb oracle mariadb elasticsearch
  duckdb snowflake bigquery
framework library: django flask react vue angular rails spring express fastapi svelte bootstrap jquery
cloud hosting provider: aws azure gcp heroku netlify vercel digitalocean cloudflare
tool vendor: git docker kubernetes jenkins terraform ansible slack jira figma excel notion trello zoom
editor ide: vim emacs vscode intellij pycharm neovim
broker queue: kafka rabbitmq redis nats sqs celery
security authentication: password hashing login token oauth encryption lockout csrf firewall permission
testing test: pytest unittest jest selenium cypress mock coverage
performance optimization: cache index lazy compression latency profiling
"""


@lru_cache(maxsize=1)
def _kinds() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _KINDS.strip().replace("\n  ", " ").split("\n"):
        names, _, members = line.partition(":")
        for name in terms(names, ENGLISH):
            found.setdefault(name, {}).update(dict.fromkeys(members.split()))
    return {name: tuple(its) for name, its in found.items()}


def of_kind(term: str) -> tuple[str, ...]:
    """Return the words of members of the kind named by an English term; none if the term names no kind."""
    return _kinds().get(term, ())
