"""The word lists behind `text`: which capitals mean something, which spellings are one word, what may be dropped.

Lists only. A word may stand in a list only if every reading of it allows what the list does: what has two readings
is left out, since a missed fold costs a line and a wrong fold costs a fact. No code that reads a text lives here.
"""

from __future__ import annotations


def _words(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


def _pairs(lines: str) -> dict[str, tuple[str, ...]]:
    """Return {word: what it is read as} of lines like `gonna=going+to`."""
    return {left: tuple(right.split("+")) for left, _, right in (pair.partition("=") for pair in lines.split())}


# --- Case ---

# Common words that are also names: their capital is kept wherever it stands, at the start of a sentence too, since
# `Polish is needed` and `polish is needed` are both sentences.
NAMES = _words(
    """
    polish turkey china japan rust swift slack rose lily ivy daisy grace hope faith joy bill frank jack nick rob pat
    sue drew grant art guy dean ray gene chip jean dawn eve violet holly iris jasmine olive pearl ruby amber crystal
    penny robin jay chase cliff clay dale glen heather nancy victor max rich randy buck harry chuck jimmy dick peter
    mercury mars earth saturn pluto cancer aries
    reading nice bath cork mobile lima chad jordan guinea cologne champagne burgundy bologna limerick sandwich slough
    concord bordeaux cheddar sherry panama bermuda brazil wales orange bend buffalo phoenix boulder
    job lent mass august catholic orthodox liberal conservative labour labor democratic republican green greens
    pole finn dane swede scot turk
    apple apples amazon oracle shell gap meta signal stripe square notion linear discord zoom teams steam
    brave opera safari windows excel outlook keynote numbers pages photos
    bush rice cook baker smith carter brown black white gray grey young long short king field fox wolf bird fish hunt
    price strong waters banks brooks stone bell ball case cash church cross day english french potter fisher hunter
    mason cooper carpenter taylor miller weaver archer butler porter parker walker gardener shepherd fuller gates
    jobs wood woods forest rivers lake hill hills moon sun star snow winter summer autumn spring lane street love
    bishop abbot pope prince duke earl major marshal sergeant virgin trinity lord god father hamlet homer
    """
)

# The same for function words, verbs and terms that open many sentences: at the start of one the capital says nothing.
NAMES_INSIDE = _words(
    """
    the an it who us may will mark march go in on or me hi oh pa ma la am pm do be by to is as at if of so up we my no
    he her him his them they you your she its our not yes now then there here what which when where why how
    can must might could should would shall need dare let get set put run see say said come came make take give
    one two three six seven ten old new big little good bad best free open first last next all any some none more most
    up out off over under down again home house office friends lost wicked cars up inside frozen it's
    python java basic pascal scheme julia crystal elixir clojure dart kotlin scala ada c go ocaml lisp perl node react
    flask bottle pyramid express rails spring play struts maven gradle ant make bazel buck git mercurial subversion
    kafka spark storm flink beam airflow dagster prefect hive pig presto impala cassandra redis consul vault nomad
    packer vagrant terraform ansible chef puppet salt docker swarm rancher harbor helm argo flux envoy istio linkerd
    chrome edge word access publisher project planner lists loop forms sites drive docs sheets slides calendar meet
    chat keep maps music news podcasts books home health fitness wallet pay messages contacts notes reminders files
    bash fish jest mocha jasmine chai cypress playwright puppeteer ruff black flake bandit sentry grafana prometheus
    loki tempo mimir target shell port path user term lang editor display debug host head main master release
    directory active services store play prime fire echo alexa kindle ring nest pixel surface bing copilot gemini
    claude codex cursor opus sonnet haiku llama mistral falcon bard phoenix
    square block circle wise chime affirm robinhood uber lyft bolt grab
    base core guard rest soap acid solid dry kiss lamp gimp cap cola
    """
)

# Words that stay one word when shouted or written as an acronym; every other word in capitals keeps them (PATH, POST).
PLAIN_CAPITALS = _words(
    """
    never not always must do don't cannot no only all any every important note warning please and very really
    required forbidden deprecated urgent attention
    ok api apis url urls uri http https html css json xml yaml toml csv pdf sql nosql cpu gpu cpus gpus ssh ssl tls
    vpn dns tcp udp ftp sftp smtp imap usb hdmi ssd hdd ui ux id ids ai llm llms pr prs ci qa db os vm vms ip uk eu
    usa tv faq jwt oauth saml ldap mfa crud orm sdk cli gui ide http2 rss npm php aws gcp
    """
)

# Products whose inner capitals nobody needs to tell them apart.
PLAIN_PRODUCTS = _words(
    """
    postgresql github gitlab javascript typescript mysql sqlite mongodb youtube linkedin openai chatgpt iphone ipad
    ipados macos ios macbook whatsapp paypal vscode graphql nodejs devops fastapi pytorch tensorflow numpy clickhouse
    rabbitmq dynamodb mariadb bigquery powershell webassembly websocket websockets bitbucket circleci stackoverflow
    wordpress facebook tiktok ebay wifi hashicorp cloudflare digitalocean docusign hubspot
    """
)

# Words of other languages: in such a text capitals tell nouns and names from other words, and English rules are off.
FOREIGN = _words(
    """
    der das und ist nicht ein eine einen einem einer mit auf für von zu zum zur im dem des sind wird werden wurde haben
    hat ich wir sie er sein seine ihr ihre auch nur noch kein keine aber oder wenn dass bei nach über unter aus wie
    el los las que es en una y del al por para con su sus lo se ser está son como más pero muy mi tu sin nos
    le les et est il elle dans pour avec sur pas ne je nous vous ils sont du au aux ce cette qui mais ou
    gli che di per non della sono nel anche più uno
    os um uma não em na ao dos das com foi mais
    het een en niet van voor op aan maar ook deze naar zijn wordt
    och att som inte på av är ett jag det den
    og ikke til som av er på
    jest nie się na że ale czy
    """
) - _words("on as a am an or is war die her him to no so do me in at ten")

# Words that only an English text holds.
ENGLISH = _words("the is are was were of and with has have for that this it its user uses prefers likes not")

# After these a dot ends no sentence.
ABBREVIATIONS = _words("e.g. i.e. vs. mr. mrs. ms. dr. prof. st. no. approx. cf. incl. a.m. p.m. u.s. inc. ltd. co.")

# --- What two texts may differ in and still be one memory ---

CONTRACTIONS = _pairs(
    """
    don't=do+not doesn't=does+not didn't=did+not can't=can+not cannot=can+not couldn't=could+not won't=will+not
    wouldn't=would+not shouldn't=should+not isn't=is+not aren't=are+not wasn't=was+not weren't=were+not
    hasn't=has+not haven't=have+not hadn't=had+not mustn't=must+not needn't=need+not shan't=shall+not
    i'm=i+am you're=you+are we're=we+are they're=they+are i've=i+have you've=you+have we've=we+have
    they've=they+have i'll=i+will you'll=you+will he'll=he+will she'll=she+will it'll=it+will we'll=we+will
    they'll=they+will gonna=going+to
    """
)

# Short and long, or two names of one thing, with one meaning in every text that is likely to hold them.
VARIANTS = _pairs(
    """
    repo=repository repos=repositories config=configuration configs=configurations db=database dbs=databases
    docs=documentation k8s=kubernetes postgres=postgresql js=javascript dir=directory dirs=directories
    e-mail=email e-mails=emails tv=television tvs=televisions telephone=phone telephones=phones
    photo=photograph photos=photographs bike=bicycle bikes=bicycles mum=mom okay=ok wi-fi=wifi info=information
    i18n=internationalization l10n=localization a11y=accessibility mongo=mongodb fridge=refrigerator
    maths=mathematics math=mathematics approx=approximately vs=versus co-worker=coworker co-workers=coworkers
    thurs=thursday tues=tuesday feb=february w/o=without an=a
    utilise=use utilises=uses utilised=used utilising=using utilize=use utilizes=uses utilized=used utilizing=using
    purchase=buy purchases=buys purchased=bought purchasing=buying
    whilst=while amongst=among towards=toward
    """
)

_IZE = """
    organ real recogn optim custom priorit summar minim maxim initial serial normal author final standard synchron
    categor apolog critic emphas special visual token container parallel random modern local capital central character
    general memor stabil vector virtual sanit monet
    """.split()
_OUR = "colour favour behaviour honour neighbour flavour humour rumour harbour odour vapour endeavour armour".split()

SPELLINGS = (
    {f"{stem}is{end}": (f"{stem}iz{end}",) for stem in _IZE for end in "e es ed ing er ers ation ations".split()}
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
        practising=practicing defence=defense offence=offense grey=gray mould=mold moustache=mustache pyjamas=pajamas
        aluminium=aluminum jewellery=jewelry traveller=traveler travellers=travelers travelling=traveling
        travelled=traveled cancelled=canceled cancelling=canceling labelled=labeled labelling=labeling
        modelled=modeled modelling=modeling signalling=signaling enrol=enroll enrols=enrolls fulfil=fulfill
        fulfils=fulfills judgement=judgment ageing=aging artefact=artifact artefacts=artifacts sceptical=skeptical
        cosy=cozy sulphur=sulfur plough=plow
        """
    )
)

NUMBERS = _pairs("two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12")

SYNONYMS = CONTRACTIONS | VARIANTS | SPELLINGS | NUMBERS

# Where a variant has its other reading: the word before, as in `keep mum`, `google docs`.
NOT_AFTER = {
    "mum": _words("keep keeps kept keeping stay stays stayed staying"),
    "docs": _words("google"),
}

# Read so only right after a number.
UNITS = _pairs(
    """
    percent=% kilometre=km kilometres=km kilometer=km kilometers=km kilogram=kg kilograms=kg gigabyte=GB gigabytes=GB
    megabyte=MB megabytes=MB millisecond=ms milliseconds=ms metre=meter metres=meter meters=meter pixels=px pixel=px
    hr=hour hrs=hour hours=hour mins=minute minutes=minute secs=second seconds=second p.m=pm p.m.=pm a.m=am a.m.=am
    """
)

# `the` adds nothing before these: one of a kind to whoever speaks, never a verb, never without an article otherwise.
THE_ADDS_NOTHING = _words(
    """
    user repository repo database db server api backend frontend codebase website password config configuration
    directory dashboard documentation app
    """
)

# `a` adds nothing before these: they are only ever counted, so that leaving it out is but haste.
A_ADDS_NOTHING = _words(
    """
    dog cat car house daughter son brother sister wife husband girlfriend boyfriend laptop meeting garden
    """
)

# What may stand before the matter itself. Those that end in `that` need a clause after them.
LEAD_INS = tuple(
    tuple(line.split())
    for line in (
        "please",
        "please note that",
        "please note :",
        "please remember that",
        "note that",
        "note :",
        "remember that",
        "remember :",
        "keep in mind that",
        "fyi",
        "fyi ,",
        "fyi :",
    )
)

# A clause begins with one of these, so that `remember that day` is no lead-in.
CLAUSE_OPENERS = _words("the a an i we you he she they it user there my our your his their all every no")

# Texts that speak of words mean the very word.
ABOUT_WORDS = _words(
    """
    word words spell spells spelled spelt spelling spellings misspelled letter letters write writes written typed
    named called name names label labels labelled labeled variable variables column columns field fields key keys
    function method class flag identifier abbreviation abbreviate abbreviations contraction contractions synonym term
    """
)

# Ruby methods and Rust macros of which the exclamation mark is a part.
BANGS = _words(
    """
    save create update map sort merge select reject uniq compact flatten reverse strip gsub sub destroy find_by
    println print format vec panic todo dbg assert unimplemented unreachable macro_rules write
    """
)

# --- Searching ---

SEARCH_STOP = _words(
    """
    a an the and or but if then so as of at by for from in into on onto to with about over under up down out off than
    is are am was were be been being do does did doing have has had having will would shall should can could may might
    must i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    this that these those there here what which who whom whose when where why how
    not no nor too very just also only own same such s t don doesn didn isn aren wasn weren hasn haven hadn won wouldn
    shouldn couldn ll ve re d m
    der die das den dem des ein eine einen einem einer und oder ist sind war im am zu zum zur mit von für auf
    el la los las un una y o de del en es por para con que se su
    """
)
