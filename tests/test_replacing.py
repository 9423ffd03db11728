"""What replaces what without a model: in slots that hold one value, where something changed, and never in doubt."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import msgspec
import pytest
from bench.replacing import main
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from memtape.state.text.replacing import replaces
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client

REPLACED = [
    ("Our invoices API is on version 3.2.", "The invoices API runs 4.0 now."),
    ("Marta maintains the export job.", "The export job is maintained by Olek."),
    ("The visa application is due on 3 June.", "Visa application deadline: 17 June."),
    ("I live in Porto.", "I moved to Braga."),
    ("My doctor is Dr Haas.", "Dr Mendel is my new doctor."),
    ("The session timeout is 30 minutes.", "We raised the session timeout to 45 minutes."),
    ("Ticket 881 is open.", "Ticket 881 is closed."),
    ("The library is called pebble.", "pebble was renamed to cobble."),
    ("My phone number is 0171 5550123.", "You can call me on 0160 5559876."),
    ("Ticket 881 is in review.", "881: merged and deployed."),
    ("The poster is due on 2 May.", "Another extension: the poster is due on 9 May."),
    ("The dryer may take up to 25 trays.", "The dryer may take up to 10 trays, not 25."),
    ("The opening is planned for July.", "We moved the opening to May after all."),
    ("kiln_retries is 3", "kiln_retries: 5"),
    ("Our apprenticeship ends in May.", "Our apprenticeship ends in June."),
    ("The pastry chef is Alma.", "Bruno is our pastry chef."),
    ("Petra owns the dye vats.", "For anything about the dye vats, Karl is the owner."),
    ("The alerts go to PagerDuty.", "The alerts now go to Opsgenie."),
    ("Invoices are exported weekly.", "Invoices are now exported daily."),
    ("I'm allergic to nuts.", "I'm not allergic to nuts any more."),
    ("The mobile app supports iOS 14.", "The mobile app no longer supports iOS 14."),
    ("The parser is written in Python.", "The parser was rewritten: it's in Rust instead of Python."),
    ("3. The capital of Oronia is Velt.", "17. The capital of Oronia is Marn."),
    ("El código del portal es 4411.", "El código del portal es 7719."),
    ("I work at Google.", "I moved from Google to Microsoft."),
    ("I live in Hamburg.", "I moved from Hamburg to Leipzig."),
    ("The blog is on Netlify.", "The blog moved from Netlify to Vercel."),
    ("Our queue is RabbitMQ.", "NATS replaced RabbitMQ as our queue."),
    ("The gym costs 30 euros a month.", "The gym is 35 euros a month now."),
    ("The dentist appointment is on 3 May.", "The dentist appointment was moved to 9 May."),
    ("My manager is Ola.", "I report to Finn now."),
    ("The team uses Jira.", "The team no longer uses Jira."),
    ("Payments are monitored with Datadog.", "Payments are now monitored with Grafana."),
    ("The store opens at 9.", "The store now opens at 10."),
    ("The report is due on Friday.", "The deadline of the report is now Monday."),
    ("The API is written in Java.", "The API was ported from Java to Kotlin."),
    ("The memory limit of the worker is 512 MB.", "The worker's memory limit was raised to 1 GB."),
    ("My phone number is 0171 5550123.", "My new number is 0160 5559876."),
    ("We use Jest for unit tests.", "We use Vitest for unit tests instead of Jest."),
    ("The frontend uses React 17.", "The frontend was upgraded to React 18."),
    ("Dana is our treasurer.", "Kim is our treasurer now."),
    ("The retro is on Friday.", "The retro moved to Thursday."),
    ("The default region is eu-west-1.", "The default region is eu-central-1 now."),
]
HOLD = [
    ("1. Ada Quint is a citizen of Norway.", "5. Ada Quint is employed by Northpine."),
    ("2. The mayor of Velt is Omar Naseri.", "7. The mayor of Marn is Freya Holt."),
    ("Dock 1 is free.", "Dock 2 is free."),
    ("Staging listens on port 8080.", "Production listens on port 9090."),
    ("The metrics endpoint listens on 9100.", "The health endpoint listens on 9200."),
    ("Ada's birthday is 3 May.", "Ben's birthday is 4 June."),
    ("My sister lives in Rome.", "I live in Milan."),
    ("I like hiking.", "I like sailing."),
    ("The API supports JSON.", "The API now supports XML."),
    ("The proxy listens on 80.", "The proxy also listens on 443."),
    ("Ticket 881 is open.", "Ticket 882 is closed."),
    ("The read timeout is 30 seconds.", "The write timeout is 60 seconds."),
    ("The Berlin office opens at 8:00.", "The Madrid office opens at 9:00."),
    ("The daily backup runs at 2:00.", "The weekly backup runs at 4:00."),
    ("We use Redis for the API.", "We use Postgres for the API."),
    ("I take vitamin D.", "I now take magnesium."),
    ("The port is taken by nginx.", "The port is free on Sundays."),
    ("Nina is the project manager of Atlas.", "Otto is the project manager of Borealis."),
    ("The rent is 900 euros.", "The rent is EUR 900."),
    ("The visa application is due on 3 June.", "The visa application might be due on 17 June."),
    ("The visa application is due on 3 June.", "Is the visa application due on 17 June?"),
    ("The visa application is due on 3 June.", "The visa application is not due on 17 June."),
    ("I work out every day.", "I will never quit working out every day."),
    ("1. Buy milk.", "2. Buy bread."),
    ("If asked, the ledger port is 1.", "If asked, the ledger port is 2."),
    ("Maybe the ledger port is 1.", "Maybe the ledger port is 2."),
    ("Is it true that the ledger port is 1?", "Is it true that the ledger port is 2?"),
    ("The cache size is 5 MB per user.", "The cache size is 100 MB per node."),
    ("The status of the ledger is green.", "The status of the ledger is what Mira decides."),
    ("The Bern office is in the mill.", "The Bern office is closed on Fridays."),
    ("The canal service runs on Linux.", "The canal service runs on Postgres."),
    ("The loom is in Go.", "The loom is in the attic."),
    ("Invoices are sent by Petra.", "Invoices are sent by fax."),
    ("The site is written in Dart.", "The site is tested with Cypress."),
    ("I meet Anna on the terrace.", "I meet Bert on the terrace."),
    ("The first ferry leaves at 5:10.", "The last ferry leaves at 23:40."),
    ("Sara is in the choir.", "Sara is in the chess club."),
    ("Crates are stored in Ulm.", "Crates are stored for 30 days."),
    ("The queue holds jobs in Lumo.", "We dropped Lumo from the metrics stack."),
    ("Ana leads the design team.", "Ana left for lunch."),
    ("The reader is written in Python.", "We dropped Python 2 support."),
    ("Eva teaches piano.", "Eva quit smoking."),
    ("The billing page is on Netlify.", "We moved the billing service to Hetzner."),
    ("The CEO is Dana.", "The CEO of our supplier is now Rolf."),
    ("job=hourly node=a state=DONE", "job=nightly node=a state=DONE"),
    ("/var on web1: 71% used", "/var on web2: 38% used"),
    ("Lucía es alérgica al polen.", "Lucía es alérgica a las nueces."),
    ("Ticket 881 is in review.", "882: merged and deployed."),
    ("kiln_retries in staging is 50", "kiln_retries in production is 200"),
    ("kiln_retries of the dryer is 3", "kiln_retries of the press is 5"),
    ("The lease with Ana ends in May.", "The lease with Ben ends in June."),
    ("The term ends in May.", "The term ends in a party."),
    ("Petra owns a house.", "Karl owns a car."),
    ("The mill is open from 9 to 5.", "The mill is no longer open on Sundays."),
    ("The poster is due on 2 May.", "Another deadline: the flyer is due on 9 May."),
    ("Rosa lives in Berlin.", "I left Berlin."),
    ("Bills go out via Lumo.", "We dropped Lumo in Brazil, Pax is used there."),
    ("The supper is at 5, not 6.", "The dinner is at 7, not 8."),
    ("Der Termin ist in Raum 5.", "Der Termin ist am Montag."),
    ("17. The capital of Oronia is Marn.", "3. The capital of Oronia is Velt."),
    ("Der Schlüssel fürs Auto hängt im Flur.", "Der Schlüssel für den Keller hängt im Bad."),
]
DIFFER = [
    ("I work at Microsoft.", "I moved from Google to Microsoft."),
    ("I live in Berlin.", "I switched from Berlin sans to Inter."),
    ("The ingest team is led by Mira Kolb.", "The ingest team moved to room Nordsee."),
    ("The tool is written in Go.", "The tool moved to Kubernetes."),
    ("The site is maintained by Nora.", "The site switched to Tailwind."),
    ("The API is hosted in Frankfurt.", "The API is now written in Rust."),
    ("The gym opens at 7.", "The gym now costs 30 euros."),
    ("My car is a Golf.", "My car is now parked on Elm Street."),
    ("The course starts at 9:00.", "The course now ends at 12:00."),
    ("The app is tested with Jest.", "The app is now built with Vite."),
    ("The report is due on Friday.", "The report was moved to the shared drive."),
    ("The report is written by Anna.", "The report is now written in English."),
    ("The choir meets in the hall.", "The choir now meets on Mondays."),
    ("The service runs on Debian 12.", "The service now runs on port 8080."),
    ("The newsletter is sent weekly.", "The newsletter is now sent from Brevo."),
    ("My boss is Carla.", "My boss moved to Lyon."),
    ("Tom lives in Bonn.", "Tom switched to decaf."),
    ("The server has 64 GB of memory.", "The server now has 2 TB of disk."),
    ("The launch is on 3 May.", "The launch was moved from Berlin to Rome."),
    ("I use Vim.", "I no longer use Slack."),
    ("The blog runs on Hugo 0.12.", "The blog runs on Node 20 now."),
    ("The trip costs 900 euros.", "The trip now lasts 5 days."),
    ("The lab is open on Mondays.", "The lab is closed from May."),
    ("The database is Postgres.", "The database moved to the Ulm data center."),
    ("Eva is our treasurer.", "Eva is now our neighbour."),
    ("The invoice is due on 3 May.", "The invoice is now paid by card."),
    ("I drive a Polo.", "I now drive to work on Mondays."),
    ("The branch is called dev.", "The branch is now protected."),
    ("The team uses Jira.", "The team dropped the daily meeting."),
    ("The cache lives in Redis 6.", "The cache TTL is now 60 seconds."),
    ("My flat is in Ghent.", "My flat now has a cat flap."),
    ("The board meets on Tuesday.", "The board is now chaired by Ina."),
    ("The pool is 25 m long.", "The pool now opens at 6."),
    ("The exam takes 90 minutes.", "The exam was moved to 3 June."),
    ("The budget is 9000 euros.", "The budget was approved on 3 May."),
    ("Ola works at Nokia.", "Ola moved to Espoo."),
    ("Kim works at Nokia.", "Kim started at the gym in May."),
    ("The printer is on floor 3.", "The printer was moved to room 12."),
    ("The house is painted blue.", "The house was sold to the Meiers."),
    ("The crate ships in May.", "The crate now ships from Oslo."),
    ("The repo is on GitLab.", "The repo was renamed to core."),
    ("The wifi password is tulip-7.", "The wifi is now on channel 11."),
]
"""Pairs that share a subject and tell different attributes of the subject."""

ATTRIBUTES = {
    "The ledger service": (
        "is written in Go", "now runs on Kubernetes", "listens on port 8080", "is owned by Mira Kolb",
        "moved from AWS to Hetzner", "was upgraded to Postgres 16", "is hosted in Frankfurt",
        "is now deployed every Monday", "is monitored with Datadog", "switched to Tailwind",
        "has a timeout of 30 seconds", "is on version 3.2", "was renamed to quill", "uses Redis as its queue",
        "now writes its logs to Loki", "is backed up nightly", "costs 90 euros a month",
        "no longer sends mails", "is now maintained by Olek Dudek's team", "sends invoices to Stripe",
        "is built with Bazel", "is now tested by Nora", "requires Python 3.12", "was moved to 9 May",
        "is led by Ida", "is under MIT", "has three replicas", "has a memory limit of 512 MB",
        "now lives at ledger.example.com", "is licensed to Acme",
    ),
    "The chess club": (
        "meets on Wednesdays", "meets at Elena's place", "is now chaired by Olek Dudek",
        "moved to room Nordsee", "costs 40 euros a year", "now starts at 19:00", "ends at 22:00",
        "is called Gambit", "has 30 members", "switched to Lichess", "no longer plays blitz",
        "was moved from hall B to hall F", "is open on Mondays", "now uses DGT clocks", "is run by Finn",
        "plays in the second league", "is now sponsored by Hansa", "lasts two hours", "opens at 18:00",
        "closes at 23:00", "now takes cards", "is at chess.example.org",
        "changed its colours from red to blue", "was founded on 3 May 1990", "has its party on 9 June",
        "will be in Ulm in May",
    ),
    "My sister": (
        "lives in Porto", "works at Siemens", "is now a paramedic", "drives a Golf",
        "moved from Hamburg to Leipzig", "now plays the cello", "weighs 61 kilos", "is allergic to nuts",
        "no longer eats meat", "switched from tea to coffee", "was born on 4 May", "is now called Ada Quist",
        "has two kids", "reports to Ina Bell", "starts work at 7:00", "changed her number to 0171 5550192",
        "sold the Polo", "left Nokia",
    ),
    "I": (
        "live in Porto", "work at Siemens", "am now a paramedic", "drive a Golf",
        "moved from Hamburg to Leipzig", "switched from Vim to Zed", "now play the cello", "weigh 61 kilos",
        "use Zed instead of Nano", "no longer eat meat", "report to Ina Bell", "now use Firefox",
        "take the train at 7:40", "sold the Polo", "left Nokia", "was born on 4 May", "pay 900 euros of rent",
        "now work from the Dublin office", "have an exam on 9 June", "write my notes in Obsidian",
        "now commute by bike",
    ),
    "The exam": (
        "is on 14 June", "lasts 90 minutes", "starts at 9:00", "is now held in English",
        "is supervised by Dr. Quist", "costs 30 euros", "was moved from hall B to hall F", "ends at 11:00",
        "has 40 questions", "is now graded by Ina", "is due for review on 3 July", "is written on paper",
        "no longer has an oral part", "switched to Moodle", "is open to everyone", "has a pass mark of 60%",
    ),
}  # fmt: skip
"""What may be said of a subject: no two of these are values of one attribute."""


TEXTS = st.one_of(st.text(max_size=80), st.sampled_from([text for pair in REPLACED for text in pair]))


DATA = Path(__file__).parent / "data"


def pairs_of(name: str) -> list[tuple[str, str]]:
    """Return the pairs of a file of `tests/data`, written by somebody who did not know the rule."""
    rows = (msgspec.json.decode(row) for row in (DATA / name).read_bytes().splitlines())
    return [(row["a"], row["b"]) for row in rows]


@pytest.mark.parametrize(("older", "newer"), REPLACED)
def test_a_value_is_replaced_in_other_words(older: str, newer: str) -> None:
    found = replaces(older, newer)
    assert found is not None and found.whole


def test_two_attributes_of_one_subject_both_stand_whichever_comes_later() -> None:
    pairs = [*DIFFER, *pairs_of("replacing-differ.jsonl")]
    assert [pair for pair in pairs if replaces(*pair) or replaces(*pair[::-1])] == []


@pytest.mark.parametrize("subject", ATTRIBUTES)
def test_no_attribute_of_a_subject_closes_any_other(subject: str) -> None:
    told = [f"{subject} {attribute}." for attribute in ATTRIBUTES[subject]]
    assert [pair for pair in permutations(told, 2) if replaces(*pair) is not None] == []


def test_most_changes_of_one_attribute_are_found() -> None:
    pairs = pairs_of("replacing-replaces.jsonl")
    assert sum(replaces(*pair) is not None for pair in pairs) >= 0.8 * len(pairs)


@pytest.mark.parametrize(("older", "newer"), HOLD)
def test_what_is_in_doubt_holds(older: str, newer: str) -> None:
    assert replaces(older, newer) is None


def test_what_the_older_text_says_besides_is_not_covered() -> None:
    found = replaces("The gateway binds to port 8443, and it needs a token.", "The gateway now binds to port 9443.")
    assert found is not None and not found.whole


@given(TEXTS, TEXTS)
def test_no_text_replaces_itself_and_any_text_is_read(older: str, newer: str) -> None:
    assert replaces(older, older) is None
    assert replaces(older, newer) == replaces(older, newer)


@given(st.sampled_from(REPLACED + HOLD + DIFFER), st.sampled_from(("  ", " \t")), st.booleans())
def test_how_a_text_is_written_replaces_nothing(case: tuple[str, str], space: str, ends: bool) -> None:
    for text in case:
        other = text.rstrip(".") if ends else text.replace(" ", space)
        assert replaces(text, other) is None
        assert replaces(text, text.upper()) is None


@given(st.sampled_from([pair for pair in HOLD if not pair[0][0].isdigit()]), st.sampled_from(("also", "in addition")))
def test_what_adds_replaces_nothing_in_either_order(pair: tuple[str, str], word: str) -> None:
    added = f"{pair[1].rstrip('.')} {word}."
    assert replaces(pair[0], added) is None and replaces(added, pair[0]) is None


@given(st.sampled_from(REPLACED[:13]), st.sampled_from(["Ada", "Borealis", "Kiel"]))
def test_another_subject_is_another_thing(case: tuple[str, str], name: str) -> None:
    older, newer = case
    assert replaces(f"For {name}, {older[0].lower()}{older[1:]}", f"For Zeta, {newer[0].lower()}{newer[1:]}") is None


def test_a_weaker_source_closes_nothing_and_an_older_text_that_arrives_late_is_closed(tmp_path: Path) -> None:
    def said(text: str, day: int, origin: str = "user") -> dict[str, str]:
        return {"text": text, "at": f"2026-03-{day:02}T09:00:00Z", "origin": origin, "kind": "fact"}

    older, newer = said(REPLACED[2][0], 1), said(REPLACED[2][1], 9)
    cases = [
        {"id": "late", "kind": "late", "texts": [newer, older], "current": [0], "replaced": [1]},
        {"id": "weak", "kind": "weak", "texts": [older, {**newer, "origin": "model"}], "current": [0], "replaced": []},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, cases)))
    shown = CliRunner().invoke(main, [str(path)])
    assert shown.exit_code == 0
    assert "1 of   1 replaced found    0 of   2 that hold closed" in next(
        line for line in shown.output.splitlines() if line.startswith("all")
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Goal: ship the beta of the importer by June.", "Goal: ship the beta of the importer by August."),
        ("The goal of the spring is 200 sign-ups.", "The goal of the spring is now 320 sign-ups."),
        ("Move the blog to Hugo.", "Keep the blog on WordPress instead of Hugo."),
        ("Plan: move the shop to Medusa by May.", "Forget the Medusa move, the shop stays on Shopify."),
    ],
)
def test_the_goal_in_force_stands_above_the_one_that_it_replaced(older: str, newer: str, tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:p", actor="Ada", origin="user") as client:
        dated = [(older, "2026-01-03T09:00:00Z"), (newer, "2026-02-03T09:00:00Z")]
        client.capture_many([Line(text=text, kind="goal", origin="user", at=at) for text, at in dated])
        client.project()
        for question in (older, newer):
            assert [it.text for it in client.search(question).results][:2] == [newer, older]
        assert [it.text for it in client.context().items if it.section == "goal"] == [newer]
