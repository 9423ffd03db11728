"""What replaces what without a model: in slots that hold one value, where something changed, and never in doubt."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from memtape.state.text.claims import _cues, cues_near
from memtape.state.text.replacing import replaces
from memtape.state.text.sharing import Sharing
from memtape.state.text.slots import SLOTS
from memtape.state.text.statements import statements
from memtape.tools.measure.replacing import main

REPLACED = [
    ("slot", "Our invoices API is on version 3.2.", "The invoices API runs 4.0 now."),
    ("slot", "Marta maintains the export job.", "The export job is maintained by Olek."),
    ("slot", "The visa application is due on 3 June.", "Visa application deadline: 17 June."),
    ("slot", "I live in Porto.", "I moved to Braga."),
    ("slot", "My doctor is Dr Haas.", "Dr Mendel is my new doctor."),
    ("slot", "The session timeout is 30 minutes.", "We raised the session timeout to 45 minutes."),
    ("slot", "Ticket 881 is open.", "Ticket 881 is closed."),
    ("slot", "The library is called pebble.", "pebble was renamed to cobble."),
    ("slot", "My phone number is 0171 5550123.", "You can call me on 0160 5559876."),
    ("slot", "Ticket 881 is in review.", "881: merged and deployed."),
    ("slot", "The poster is due on 2 May.", "Another extension: the poster is due on 9 May."),
    ("slot", "The dryer may take up to 25 trays.", "The dryer may take up to 10 trays, not 25."),
    ("moved", "The opening is planned for July.", "We moved the opening to May after all."),
    ("slot", "kiln_retries is 3", "kiln_retries: 5"),
    ("slot", "Our apprenticeship ends in May.", "Our apprenticeship ends in June."),
    ("slot", "The pastry chef is Alma.", "Bruno is our pastry chef."),
    ("slot", "Petra owns the dye vats.", "For anything about the dye vats, Karl is the owner."),
    ("ended", "Weavers hand in sheets through Lumo.", "We stopped using Lumo, a form is there for that."),
    ("ended", "The mill is open on Sundays from 11 to 4.", "The mill is not open on Sundays any more."),
    ("moved", "We use Figma for the mockups.", "We switched to Penpot for the mockups."),
    ("moved", "The alerts go to PagerDuty.", "The alerts now go to Opsgenie."),
    ("moved", "Invoices are exported weekly.", "Invoices are now exported daily."),
    ("ended", "I'm allergic to nuts.", "I'm not allergic to nuts any more."),
    ("ended", "The mobile app supports iOS 14.", "The mobile app no longer supports iOS 14."),
    ("ended", "The parser is written in Python.", "The parser was rewritten: it's in Rust instead of Python."),
    ("serial", "3. The capital of Oronia is Velt.", "17. The capital of Oronia is Marn."),
    ("frame", "El código del portal es 4411.", "El código del portal es 7719."),
    ("frame", "rsync: 812 ready, 40% used", "rsync: 901 ready, 55% used"),
    ("stated", "The kiln is behind the shed.", "The kiln is now in the barn."),
    ("stated", "Die Orgel steht im Keller.", "Die Orgel steht jetzt in der Aula."),
    ("stated", "El taller está en Lugo.", "El taller está ahora en Vigo."),
    ("stated", "L'atelier est à Nantes.", "L'atelier est maintenant à Brest."),
    ("stated", "报表系统部署在甲机房。", "报表系统已经迁到乙机房了。"),
    ("ended", "Our kiln is fired by Marta.", "Marta has retired."),
    ("ended", "Crates are tracked in Lumo.", "We dropped Lumo for the crates."),
    ("ended", "Usamos Trello para las rutas.", "Ya no usamos Trello; las rutas están en papel."),
]
HOLD = [
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


TEXTS = st.one_of(st.text(max_size=80), st.sampled_from([text for _, *pair in REPLACED for text in pair]))


@pytest.mark.parametrize(("how", "older", "newer"), REPLACED)
def test_a_value_is_replaced_in_other_words(how: str, older: str, newer: str) -> None:
    found = replaces(older, newer)
    assert found is not None and found.how == how and found.whole


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


@given(st.sampled_from(REPLACED + [("", *pair) for pair in HOLD]), st.sampled_from(("  ", " \t")), st.booleans())
def test_how_a_text_is_written_replaces_nothing(case: tuple[str, str, str], space: str, ends: bool) -> None:
    for text in case[1:]:
        other = text.rstrip(".") if ends else text.replace(" ", space)
        assert replaces(text, other) is None
        assert replaces(text, text.upper()) is None


@given(st.sampled_from([pair for pair in HOLD if not pair[0][0].isdigit()]), st.sampled_from(("also", "in addition")))
def test_what_adds_replaces_nothing_in_either_order(pair: tuple[str, str], word: str) -> None:
    added = f"{pair[1].rstrip('.')} {word}."
    assert replaces(pair[0], added) is None and replaces(added, pair[0]) is None


@pytest.mark.parametrize(("how", "older", "newer"), [case for case in REPLACED if case[0] in ("slot", "stated")])
def test_where_nothing_says_a_change_the_order_of_time_decides(how: str, older: str, newer: str) -> None:
    if not re.search(r"\b(?:now|new|moved|renamed|raised|jetzt|ahora|maintenant)\b|已经", newer):
        assert replaces(newer, older) is not None


@given(st.lists(st.sampled_from([slot.name for slot in SLOTS]), min_size=1), TEXTS)
def test_no_slot_is_passed_over_whose_words_a_text_has(names: list[str], text: str) -> None:
    near = cues_near(text)
    for number, (slot, _, pattern) in enumerate(_cues()):
        assert number in near or slot.name not in names or not pattern.search(text)


@given(st.sampled_from(REPLACED[:13]), st.sampled_from(["Ada", "Borealis", "Kiel"]))
def test_another_subject_is_another_thing(case: tuple[str, str, str], name: str) -> None:
    _, older, newer = case
    assert replaces(f"For {name}, {older[0].lower()}{older[1:]}", f"For Zeta, {newer[0].lower()}{newer[1:]}") is None


def test_a_weaker_source_closes_nothing_and_an_older_text_that_arrives_late_is_closed(tmp_path: Path) -> None:
    def said(text: str, day: int, origin: str = "user") -> dict[str, str]:
        return {"text": text, "at": f"2026-03-{day:02}T09:00:00Z", "origin": origin, "kind": "fact"}

    older, newer = said(REPLACED[2][1], 1), said(REPLACED[2][2], 9)
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


def test_little_of_what_people_say_is_closed() -> None:
    folder = Path(os.environ.get("CORPORA", "nowhere"))
    if not (folder / "locomo-dev.json").exists():
        pytest.skip("no corpora: CORPORA names a folder with locomo-dev.json")
    pairs = closed = 0
    for talk in msgspec.json.decode((folder / "locomo-dev.json").read_bytes()):
        turns = [turn for key, value in talk["conversation"].items() if isinstance(value, list) for turn in value]
        for speaker in dict.fromkeys(turn["speaker"] for turn in turns):
            sharing, said = Sharing(), list[str]()
            for turn in turns:
                said += [it.text for it in statements(turn["text"], 0, of_agent=False) if turn["speaker"] == speaker]
            for number, text in enumerate(said):
                sharing.put(number, text)
                near = sharing.near(number, 30)
                pairs += len(near)
                closed += sum(replaces(said[other], text) is not None for other in near)
    assert pairs > 1_000 and closed * 1_000 <= pairs
