"""The word lists behind `text`: meaningful capitals, spellings of one word, and words to drop.

A word is in a list only if the list's effect is right for every reading of the word. Words of two readings
stay out, since a missed fold costs a line and a wrong fold costs a fact. No code that reads a text lives
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any

WORD_FILES = ("common_words.txt", "slots.txt", "words.txt")


@cache
def words_digest() -> str:
    """Return the digest of the files of words, 8 hex digits; the digest is part of the version of the rules."""
    return blake2b(b"".join(map(data_of, WORD_FILES)), digest_size=4).hexdigest()


@cache
def common_words() -> dict[str, list[str]]:
    """Return the commonest words of each language, by its ISO 639-1 code."""
    return {code: words for code, *words in map(str.split, lines_of("common_words.txt"))}


@cache
def data_of(name: str) -> bytes:
    """Return a file of words beside this file."""
    spec = find_spec(__package__ or "")
    assert spec is not None and spec.submodule_search_locations
    loader: Any = spec.loader
    data: bytes = loader.get_data(f"{spec.submodule_search_locations[0]}/{name}")
    return data


def lines_of(name: str) -> Iterator[str]:
    """Yield the lines of a file of words, each with the lines that continue it, and no comments."""
    whole = ""
    for line in (*data_of(name).decode().splitlines(), ""):
        if line.startswith("    "):
            whole += " " + line.strip()
        else:
            if whole and not whole.startswith("#"):
                yield whole
            whole = line


@cache
def _lists() -> dict[str, list[str]]:
    pairs = (line.partition(": ") for line in lines_of("words.txt"))
    return {name: words.split() for name, _, words in pairs}


def word_list(name: str) -> frozenset[str]:
    """Return a list of `words.txt`."""
    return frozenset(_lists()[name])


def word_pairs(name: str) -> dict[str, str]:
    """Return the pairs `word=other` of a list of `words.txt`."""
    return {word: other for word, _, other in (pair.partition("=") for pair in _lists()[name])}


def word_set(lines: str) -> frozenset[str]:
    """Return the words of lines."""
    return frozenset(lines.split())


def _pairs(lines: str) -> dict[str, tuple[str, ...]]:
    """Return {word: its reading} of items such as `gonna=going+to`."""
    return {word: tuple(reading.split("+")) for word, _, reading in (item.partition("=") for item in lines.split())}


# --- Case ---

# Words that are names too and can begin a sentence as either (`Polish is needed`), and units of which the capital is
# the size. Their case always stays.
NAMES = word_set(
    """
    polish turkey china japan rust swift slack catholic orthodox dane finn swede pole turk celt scot job lent mass
    reading nice bath cork mobile lima chad jordan guinea cologne champagne burgundy bologna limerick sandwich slough
    concord bordeaux cheddar sherry panama bermuda buffalo boulder tangier hull rugby rye troy aurora providence
    independence tombstone male jersey guernsey sofia florence paris victoria wells niger togo

    rose lily ivy daisy grace hope faith joy bill frank jack nick rob pat sue drew art guy dean ray gene chip jean dawn
    eve violet holly iris jasmine olive pearl ruby amber crystal penny robin jay cliff dale glen heather nancy victor
    randy harry chuck jimmy dick peter angel carol colt destiny ernest ginger hazel honor jasper kit leo lance melody
    mercy patience prudence rusty sandy stew terry trinity wade ward christian dolly gale glory harmony jade lane laurel
    lark merry myrtle poppy raven reed sage stormy tom tony wren piper brook fern flora herb jewel kitty mike marina
    misty norman norma opal pepper ralph rex roger rocky rowan saffron shelly sonny tad toby vic viola wally warren
    woody ace barb basil blaze buster chester cookie don ed ford foster hank heath jo josh juno lacy leslie lucky luna
    marigold mario maverick minnie monty nova oscar otto paddy patty peg pete phil pierce polly precious ram regina
    ricky rod rosemary ruth sally scarlet scout spencer spike stella teddy tess tiger tucker una van vera wes win

    mercury mars earth saturn pluto cancer aries moon jupiter venus neptune leo virgo apple apples amazon oracle stripe
    notion linear discord steam safari excel outlook keynote kindle alexa puma jaguar mustang corona tide dove kb kib mb
    mib gb gib tb tib pb mw ms pa
    """
)

# The same, but they open so many sentences that a capital at the start says nothing: there they become plain words.
# Within one it says a title, a product, a surname: `watches The Office`, `uses Word`, `asked Cook`.
FIRST_NAMES = word_set(
    "mark will grant max may june april august miles norm rich chase clay cole drake earl charity mason tyler"
)
"""First names that are also words at the beginning of a sentence."""
BEHIND_VERBS = word_set(
    "the a an this that these those it them all each every any as my our your his her its their i you he she we they us"
    " me not be no everything everyone out off up down for to in on at with"
)
"""Words behind a word at the beginning of a sentence that is no name."""
NAMES_INSIDE = word_set(
    """
    the an it who us may will mark march go in on or me hi oh ma am do be by to is as at if of so up we my no he her him
    his them they you your she its our not yes now then there here this that these those what which when where why how
    can must might could should would shall need dare let get set put run see saw say said come came make take give tell
    told call ask move start stop keep turn try think know want have has had was were are been being and but for from
    with without out off over under down again into onto through before after between against about near one two three
    four five six seven eight nine ten eleven twelve hundred thousand zero second minute math maths next all any some
    none more most every sat sun wed mar jan dec mon fri father mother god lord

    bush rice cook baker smith carter brown black white gray grey green greens young long short king field fox wolf bird
    fish hunt price strong waters banks brooks stone bell ball cash church cross day english french potter fisher mason
    cooper carpenter taylor miller weaver archer butler porter parker walker gardener shepherd fuller gates jobs wood
    woods rivers lake hill hills swan crane drake finch hawk peacock sparrow nightingale wise sharp savage blunt moody
    armstrong bacon berry blood bond bone bones bull burns chandler cotton dyer farmer fielding flowers gill glass gold
    golden goodman hardy hood horn horne house hurt kidd knight lamb law leach little love lowe major marsh mayor moss
    noble nutter park peel penn pitt pope pound powers prince quick read rock sellers singer silver spears steel
    sterling stark sweet tanner thatcher trump turner tyler wall washer watt weber west wilder wright duke earl bishop
    abbot virgin angelo homer hamlet hunter summer summers winter winters spring springs autumn fall snow frost page
    august april june brand case chance christmas coffin cole cold crow cruise diamond fair fallon gore grand grave
    graves hand hart hawking heard joker kitchen lock locke mann marshal marshall middle minor nash paine pain poole
    post power rush sands shaw slater snipes speed spade stern street temple viper walls ware webb welch welles wheeler
    woolf yard skip grant chase split deal battle max rich signal meta gap shell ham dot buck charity miles norm

    office friends cars alien aliens cats rent heat network matrix police band beach doors eagles killers kinks smiths
    roots strokes verve cure clash jam ghost jaws crash gravity arrival contact signs scream dune elf soul onward
    severance succession suits castle monk girls scrubs cheers homeland industry atlanta community silo beef hacks chess
    risk clue sorry life doom quake portal control prey rage limbo journey flower hades halo ark spore thief queen kiss
    genesis europe boston chicago kansas asia america heart cream bread traffic wings muse blur pulp suede oasis garbage
    hole live tool train creed poison warrant air pink seal sting slash flea future usher justice editors spoon low wire
    swans ride lush sleep mono envy rhapsody

    java basic pascal scheme julia elixir clojure dart ada lisp perl node flask bottle pyramid express rails play struts
    ant subversion storm flink beam airflow hive pig presto impala vault nomad packer vagrant chef puppet salt swarm
    rancher harbor helm argo flux envoy elm reason racket clean eclipse atom sublime brackets helix nano kate warp arc
    chrome edge word words access publisher project planner lists loop forms sites drive docs sheets slides calendar
    meet chat maps music news podcasts books home health fitness wallet pay messages contacts notes reminders files
    photos teams windows pages numbers store prime fire ring nest pixel surface echo box sketch mural loom bear craft
    things obsidian roam pocket buffer segment amplitude heap tableau snowflake render fly railway neon planet clerk duo
    ramp lattice bamboo front drift help crisp plain pilot bench ledger kraken compound maker curve sushi polygon
    avalanche cosmos flow square circle wave brave opera zoom medium patch jest mocha chai cypress flake bandit sentry
    loki tempo mimir target boots argos guess dell dodge mini smart seat polo golf beetle focus fiesta escort explorer
    civic accord leaf note rogue titan frontier spark volt bolt charger challenger ranger bronco escape fusion galaxy
    bar blackberry cricket adobe sprint caterpillar orange cursor opus sonnet haiku falcon bard copilot llama active
    directory services security visa monster uber lyft grab chime affirm python react bash gemini yarn bun deno parcel
    rollup gulp grunt bower karma enzyme cucumber gherkin selenium ember backbone angular meteor polymer knockout svelte
    lit stencil alpine stimulus remix celery tornado pony pillow requests pandas torch keras caffe arrow parquet iceberg
    delta drill drone concourse cortex beats insomnia postman fiddler charles burp snort fork tower magnet alfred
    spotlight blender maya premiere audition resolve reaper logic audacity evolution unity unreal gnome cinnamon mate
    mint arch fedora puppy void tails elementary kali coke sprite subway vans crocs wired twilight tag uno dominos
    snickers bounty gain cheer crest aim secret axe raid pledge glad hefty bounce era limited forever coach diesel
    fossil champion converse supreme wish bumble hinge match blind indeed stash acorns canvas blackboard moodle zelle
    venmo klaviyo gong outreach apollo clay

    times guardian economist mirror mail star independent observer standard sunday nature science cell people vogue time
    fortune money liberal liberals conservative conservatives labour labor democratic democrats republican republicans
    left right central bank states city court internet web bible easter cabinet crown congress treasury senate union
    gospel communion host advent epiphany assumption depression restoration reformation prohibition enlightenment
    renaissance underground tube metro channel gulf strip highlands cape village queens heights mall strand oval shard
    mission sunset bay valley pacific continent resistance revolution occupation troubles blitz prophet saviour savior
    baptist methodist
    """
)

# Words that stay one word in capitals. All others keep them, since PATH, POST and HEAD are not path, post and head.
PLAIN_CAPITALS = word_set(
    """
    never not always must do no only every important note warning please and very really required forbidden
    ok api apis url urls uri http https html css json xml yaml toml csv pdf sql nosql cpu gpu cpus gpus ssh ssl tls
    vpn dns tcp udp ftp sftp smtp imap usb hdmi ssd hdd ui ux id ids ai llm llms pr prs qa db uk eu usa tv faq
    js vm vms ip ci os jwt oauth saml ldap mfa crud orm sdk cli gui ide rss npm php aws gcp fyi
    """
)

# Products whose inner capitals tell nothing apart.
PLAIN_PRODUCTS = word_set(
    """
    postgresql github gitlab javascript typescript mysql sqlite mongodb youtube linkedin openai chatgpt iphone ipad
    macos macbook whatsapp paypal vscode graphql nodejs devops fastapi pytorch tensorflow clickhouse rabbitmq dynamodb
    mariadb bigquery powershell webassembly websocket websockets bitbucket circleci stackoverflow wordpress facebook
    tiktok ebay wifi hashicorp cloudflare digitalocean docusign hubspot
    """
)

# Words that tell of another language than English. There capitals tell nouns and names from the rest, and no English
# rule holds. What is also an English word, an acronym or a part of place names is left out.
FOREIGN = word_set(
    """
    der das und ist nicht ein eine einen einem einer eines auf für von zu zum zur dem des sind wird werden wurde wurden
    haben habe ich wir er sie ihr ihm ihn ihre ihren sein seine seinen uns mir mich dir dich sich auch nur noch kein
    keine keinen aber oder wenn dass bei nach über unter aus wie jetzt immer nie ohne gegen mein meine dein deine heißt
    als alle viele diese dieser dieses durch beim vom seit gern gerne doch geht kommt steht liegt macht muss kann soll
    el que una del por como más pero muy sus está están también nunca siempre mis nuestro hay tiene
    le les et dans avec ne je nous vous ils une du ce cette qui mais c'est j'aime n'est d'un d'une
    gli che di della sono nel anche più uma não ao foi het een niet voor aan maar ook deze naar zijn wordt
    och inte på ett jag är att ikke jest nie się że czy
    """
)

# Words that tell of English and of no neighbour of it. A text without any is taken for another language, since that
# only leaves more as it is.
ENGLISH = word_set(
    """
    the is are were of and with have had for that this these those it its not does did to be been being from
    i your our their they he we she you his them who what which when where why how there then than
    must should can could would may might shall cannot never always only every each any both some more most other
    use uses used using prefer prefers like likes want wants need needs run runs work works live lives keep keeps
    love loves drink drinks eat eats plays goes went makes made says said told costs starts started stops stopped
    moved bought asks asked speaks reads user if but because before after into about until while without between up
    don't doesn't didn't can't couldn't won't wouldn't shouldn't isn't aren't wasn't weren't i'm you're we're they're
    """
)

# Words that tell of something to be typed to the letter. In such a text capitals stay, since `Main` is not `main`.
ABOUT_TYPING = word_set(
    """
    password passwords passphrase passcode secret secrets token tokens key keys username login variable variables
    column columns field fields class classes function functions method methods identifier identifiers flag flags
    branch branches module modules attribute attributes parameter parameters param params argument arguments property
    properties tag tags enum constant constants file files folder folders filename path paths command commands hostname
    alias aliases env schema
    """
)

# Abbreviations with a dot, behind which no sentence opens.
ABBREVIATIONS = word_set("e.g. i.e. vs. mr. mrs. ms. dr. prof. st. no. approx. cf. incl. a.m. p.m. u.s. inc. ltd. co.")

# Openings of a text before its first sentence.
BULLETS = word_set("- * • –")
ANNOUNCERS = BULLETS | word_set("note: remember: fyi fyi: fyi,")


# --- Differences between texts of one memory ---

# Each is only short for the other. `it's`, `he'd` and `let's` have two readings, and so has `can not only`.
CONTRACTIONS = _pairs(
    """
    don't=do+not doesn't=does+not didn't=did+not can't=cannot couldn't=could+not won't=will+not
    wouldn't=would+not shouldn't=should+not isn't=is+not aren't=are+not wasn't=was+not weren't=were+not
    hasn't=has+not haven't=have+not hadn't=had+not mustn't=must+not needn't=need+not shan't=shall+not
    i'm=i+am you're=you+are we're=we+are they're=they+are i've=i+have you've=you+have we've=we+have they've=they+have
    i'll=i+will you'll=you+will he'll=he+will she'll=she+will it'll=it+will we'll=we+will they'll=they+will
    gonna=going+to
    """
)

# Two names of one thing. Left out: app (an application can be a form), folder (a directory can be a list of people),
# info (a log level), purchase (a purchase order is no buy order), min, dev, auth, env, and all that only come close.
VARIANTS = _pairs(
    """
    repo=repository repos=repositories config=configuration configs=configurations db=database dbs=databases
    docs=documentation dir=directory dirs=directories k8s=kubernetes postgres=postgresql js=javascript mongo=mongodb
    e-mail=email e-mails=emails wi-fi=wifi tv=television tvs=televisions telephone=phone telephones=phones
    photo=photograph photos=photographs bike=bicycle bikes=bicycles mum=mom fridge=refrigerator fridges=refrigerators
    okay=ok maths=mathematics math=mathematics approx=approximately vs=versus co-worker=coworker co-workers=coworkers
    i18n=internationalization l10n=localization a11y=accessibility thurs=thursday tues=tuesday feb=february
    w/o=without an=a utilise=use utilises=uses utilising=using utilize=use utilizes=uses utilizing=using
    purchased=bought whilst=while amongst=among towards=toward
    """
)

# After these a bare name may be the very string: a folder, a host, a value (`stored in docs`, `host: db`).
LITERAL_AFTER = word_set(
    """
    in into under inside from to at as is are was be = : @ -> user or and not , cd ls git import require run install add
    pull push start stop restart exec image
    """
)

# Where a variant has its other reading, with the word before it.
OTHER_READINGS = frozenset(
    [("google", "docs"), ("microsoft", "docs"), ("active", "directory")]
    + [(verb, "mum") for verb in "keep keeps kept keeping stay stays stayed staying".split()]
)

# British and American spellings of one word. Left out where one side is also another word: metre, programme, cheque,
# tyre, storey, draught, disc, mould, learnt, spelt.
_ISE = """
    organ real recogn optim custom priorit summar minim maxim initial serial normal author final standard synchron
    categor apolog critic emphas special visual token container parallel random modern local capital central character
    general memor stabil vector virtual sanit monet deserial reorgan
    """.split()
_OUR = "colour favour behaviour honour neighbour flavour humour rumour harbour odour vapour endeavour armour".split()
SPELLINGS = (
    {f"{stem}is{end}": (f"{stem}iz{end}",) for stem in _ISE for end in "e es ed ing er ers ation ations".split()}
    | {
        stem + end: (stem[:-2] + "r" + end,)
        for stem in _OUR
        for end in ["", *"s ed ing ful less able ably ite ites al hood hoods".split()]
    }
    | _pairs(
        """
        centre=center centres=centers centred=centered theatre=theater theatres=theaters litre=liter litres=liters
        fibre=fiber fibres=fibers analyse=analyze analysed=analyzed analysing=analyzing catalogue=catalog
        catalogues=catalogs licence=license licences=licenses practise=practice practised=practiced
        practising=practicing defence=defense offence=offense grey=gray moustache=mustache pyjamas=pajamas
        aluminium=aluminum jewellery=jewelry traveller=traveler travellers=travelers travelling=traveling
        travelled=traveled cancelled=canceled cancelling=canceling labelled=labeled labelling=labeling
        modelled=modeled modelling=modeling signalling=signaling enrol=enroll enrols=enrolls fulfil=fulfill
        fulfils=fulfills judgement=judgment ageing=aging artefact=artifact artefacts=artifacts sceptical=skeptical
        cosy=cozy sulphur=sulfur plough=plow
        """
    )
)

# Not `one`, which is a pronoun too, and not at the head of a sentence, where it may be `Five Guys`.
NUMBERS = _pairs("two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12")

SYNONYMS = VARIANTS | SPELLINGS | NUMBERS

# Read so right after a number only. A meter measures, so `2 meters` may be devices; `min`, `m` and `s` are left out.
UNITS = _pairs(
    """
    percent=% kilometre=km kilometres=km kilometer=km kilometers=km kilogram=kg kilograms=kg gigabyte=GB gigabytes=GB
    megabyte=MB megabytes=MB millisecond=ms milliseconds=ms pixel=px pixels=px hrs=hours hr=hours mins=minutes
    secs=seconds p.m=pm PM=pm a.m=am AM=am
    """
)

# `the` before one of these at the head of a sentence, with one of those verbs after it, is only good manners.
ONE_OF_A_KIND = word_set(
    "user repository repo database db server api backend frontend codebase website app application team project"
)
FINITE = word_set(
    """
    is was has had does did can cannot must should will would may might isn't wasn't hasn't doesn't didn't can't won't
    prefers likes loves hates dislikes wants uses lives asks asked wanted moved started stopped owns speaks depends
    """
)

_IMPERATIVES = word_set(
    """
    do don't never always use avoid keep make run write add remove call commit push pull remember send check update
    prefer reply answer respond ensure include put set wait ask tell give read format install test deploy delete
    """
)
_CLAUSES = word_set(
    "the a an i we you he she they it user there this that my our your his their all every no never always"
)

# What may stand before the matter itself, by its first word, and what must follow (nothing: anything may), so that
# neither `please the customer` nor `remember that day` loses its verb.
LEAD_INS: dict[str, tuple[tuple[tuple[str, ...], frozenset[str]], ...]] = {
    "please": (
        (("please", "note", "that"), _CLAUSES),
        (("please", "remember", "that"), _CLAUSES),
        (("please",), _IMPERATIVES),
    ),
    "note": ((("note", "that"), _CLAUSES), (("note", ":"), frozenset())),
    "remember": ((("remember", "that"), _CLAUSES), (("remember", ":"), frozenset())),
    "keep": ((("keep", "in", "mind", "that"), _CLAUSES),),
    "fyi": ((("fyi", ","), frozenset()), (("fyi", ":"), frozenset()), (("fyi",), _CLAUSES)),
}

# A text with one of these speaks of the very words: nothing in it stands for another.
ABOUT_WORDS = word_set(
    """
    word words spell spells spelled spelt spelling spellings misspelled letter letters typed typing pronounced literal
    literally write writes phrase string abbreviation abbreviate abbreviated abbreviations contraction contractions
    synonym term terms british american digit digits numeral numerals means stands capital capitals hyphen hyphenated
    formal informal apostrophe apostrophes
    """
)

# A text with one of these may give a name or a value: in it no name stands for another.
ABOUT_NAMES = ABOUT_TYPING | word_set(
    """
    named called name names nickname label labels labelled labeled title titled text number numbers code type types
    pin host account role package option options level mean domain topic
    """
)

# Ruby methods and Rust macros that end in an exclamation mark.
BANGS = word_set(
    """
    save create update map sort merge select reject uniq compact flatten reverse strip gsub sub destroy
    println print eprintln format vec panic todo dbg assert unimplemented unreachable write
    """
)


# --- Searching ---

SEARCH_STOP = word_set(
    """
    a an the and or but if then so as of at by for from in into on onto to with about over under up down out off than
    is are am was were be been being do does did doing have has had having will would shall should can could may might
    must i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    this that these those there here what which who whom whose when where why how
    not no nor too very just also only own same such
    don't doesn't didn't can't cannot couldn't won't wouldn't shouldn't isn't aren't wasn't weren't hasn't haven't
    hadn't mustn't needn't i'm you're we're they're i've you've we've they've i'll you'll he'll she'll it'll we'll
    they'll i'd you'd he'd she'd we'd they'd let's
    der die das den dem des ein eine einen einem einer und oder ist sind im am zu zum zur mit von für auf
    el la los las un una y o de del en es por para con que se su
    """
)
