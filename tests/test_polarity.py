"""What a text does, told from its words: rules, facts, what is said about memory, corrections."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtape.state.text.instructions import heard_in, same_instruction
from memtape.state.text.orders import is_about, named_by
from memtape.state.text.own_words import remembered
from memtape.state.text.polarity import polarity


def said(block: str) -> list[str]:
    """Return the sentences of a block, which a bar separates."""
    return [" ".join(it.split()) for it in block.split("|")]


RULES = said("""
Always run the tests before committing. | Please always answer in British English. | Never push to main. |
never use emojis | I prefer tabs over spaces. | I'd rather have short answers. | We always use pytest here.
| Use tabs, never spaces. | From now on, sign commits. | You should always check the types. | When you write
tests, always use pytest. | Don't ever delete my branches. | Make sure you never touch prod. | Ok, and never
use sudo. | - Always embed the version | Immer auf Deutsch antworten. | Bitte immer Typen prüfen. | Verwende
immer pytest. | Verwenden Sie niemals sudo. | Nie direkt auf main pushen. | Ich bevorzuge kurze Antworten. |
Mir ist eine kurze Antwort lieber. | Ab jetzt nur noch Deutsch. | Siempre responde en español. | Nunca uses
emojis. | Usa siempre pytest. | Prefiero respuestas cortas. | Por favor, siempre ejecuta las pruebas. | De
ahora en adelante usa tabs. | 始终使用中文回答。 | 请务必先运行测试。 | 永远不要推送到主分支。 |
我更喜欢简短的回答。 | 以后请用中文。 | 必ずテストを実行してください。 |
絶対にmainにプッシュしないでください。 | いつも日本語で答えてください。 | 短い回答の方が好きです。 |
Stop using semicolons. | Please stop adding
comments to every line. | Please don't use emojis. | Don't use semicolons. | Remember to use pnpm instead of
npm. | Réponds toujours en français. | S'il te plaît, utilisez toujours des tabulations. | N'utilise jamais
sudo. | Ne pousse jamais sur main. | Toujours répondre en français. | Ne jamais utiliser sudo. | Je préfère
les réponses courtes. | À partir de maintenant, réponds en français. | Всегда отвечай по-русски. | Никогда
не пушь в main. | Пожалуйста, всегда проверяйте типы. | Отвечай всегда коротко. | Я предпочитаю короткие
ответы. | Впредь пиши по-русски. | Rispondi sempre in italiano. | Non usare mai sudo. | Mai usare emoji. |
Preferisco risposte brevi. | D'ora in poi usa i tab. | Sempre responda em português. | Use sempre pytest. |
Nunca use sudo. | Prefiro respostas curtas. | De agora em diante, use tabs. | Antwoord altijd in het
Nederlands. | Gebruik nooit sudo. | Altijd pytest gebruiken. | Ik heb liever korte antwoorden. | Vanaf nu
graag in het Nederlands.
""")
FACTS = said("""
I always go to the gym on Mondays. | I've never been to Paris. | Never been to Paris. | Should I always use
pytest? | He never answers. | She said "always use sudo". | Staging listens on port 8081. | Never mind. | It
is never too late. | Anna kommt immer zu spät. | Ich war noch nie dort. | Er kommt nie. | Siempre he querido
verlo. | Nunca he estado allí. | Casi siempre llueve. | 他总是迟到。 | 我从来没去过巴黎。 |
いつも7時に起きます。 | 彼はいつも遅刻します。 |
¿Siempre llueve? | Soll ich immer testen? | The build always fails on Windows. | Ana siempre llega tarde. |
Habla siempre mal? | Ella nunca llega. | Das Wetter ist immer schlecht. | > Always trust quotes. | Stop
worrying so much! | Please don't go. | Please don't push yet. | Remember to take care of yourself. | I don't
use emojis. | Il pleut toujours ici. | Presque toujours en retard. | Je n'ai jamais vu Paris. | Paul arrive
toujours en retard. | Est-ce qu'il répond toujours ? | Он всегда опаздывает. | Я никогда не был в Париже. |
Всегда хотели туда поехать. | Всегда рад помочь. | Arriva sempre tardi. | Non sono mai stato a Roma. |
Sempre in ritardo. | Ele sempre chega tarde. | Sempre quis ver isso. | Hij komt altijd te laat. | Altijd al
willen zien. | Nooit geweten. | Ik ben nooit in Parijs geweest.
""")
METAS = said("""
Never mention my divorce. | Please don't remember this. | Forget what I said about Anna. | Erwähne nie meine
Scheidung. | Vergiss das bitte. | No menciones mi divorcio. | Olvida lo que dije. | 不要提我的离婚。 |
離婚のことは言及しないでください。
""")
CORRECTIONS = said("""
No, the port is 8081. | Actually, it is on Tuesday. | Nein, der Port ist 8081. | 不对，端口是8081。 |
違います、ポートは8081です。
""")
NO_ORDERS = said("""
Always mention the ticket number in commits. | Never mention prices in the newsletter. | Never store
passwords in plaintext. | Stop mentioning AI in commit messages. | I'll always remember that day. | They
always remind me of home. | I don't remember this. | Don't forget that the tests must pass. | forget it |
Don't mention it! | Forget about the deadline, quality comes first. | Vergiss nicht, die Tests laufen zu
lassen. | Keep the index in memory. | He said "never mention Anna again". | Did you never mention Anna?
""")
NO_CORRECTIONS = said("""
No, I didn't. | Nope! | No, that's fine. | Actually, I just took my family camping! | No, thanks.
""")


def test_a_text_is_what_its_words_do() -> None:
    kinds = {"rule": RULES, "fact": FACTS + NO_CORRECTIONS, "meta": METAS, "correction": CORRECTIONS}
    told = {text: polarity(text) for texts in kinds.values() for text in texts}
    assert told == {text: kind for kind, texts in kinds.items() for text in texts}
    assert [text for text in RULES if heard_in(text).standing != (text.removeprefix("- "),)] == []
    assert [text for text in METAS if heard_in(text).orders != (text,)] == []
    assert [text for text in (*FACTS, *METAS, *CORRECTIONS) if heard_in(text).standing] == []
    assert [text for text in NO_ORDERS if heard_in(text).orders] == []


ORDERED = (
    ("Never mention the Berlin trip again.", "Our Berlin trip is in May.", "Ben lives in Berlin."),
    ("Please don't bring up Anna anymore", "Anna moved to Graz.", "The annual report is due."),
    ("Stop bringing up the layoffs.", "Layoffs are announced on Friday.", "He was laid off in May."),
    ("Forget that I was fired from Acme.", "I was fired from Acme in 2019.", "Acme hires in May."),
    ("Forget what I said about Otto.", "Otto lost a paddle.", "I said that it is cold."),
    ("Forget my old address.", "My old address is 5 Elm Road.", "The address is 9 Oak Lane."),
    ("Remove my phone number from your memory.", "The phone number of Ada is 555.", "My phone is broken."),
    ("Erwähne nie meine Scheidung.", "Die Scheidung ist im Mai.", "Die Hochzeit ist im Mai."),
)


def test_an_order_is_about_what_holds_all_that_it_names() -> None:
    for order, about, other in ORDERED:
        named = [named_by(order)]
        assert is_about(about, named) and not is_about(other, named)
    for order in ("Please don't remember this.", "Vergiss das bitte.", "Forget what I said."):
        assert polarity(order) == "meta" and not named_by(order)
        assert not is_about("I said this, please remember.", [named_by(order)])


def test_of_a_turn_only_the_sentences_that_instruct_stand() -> None:
    turn = "Thanks, that was great!\n- Always run `make test`.\nIt took a while. Never push to main! What next?"
    assert heard_in(turn).standing == ("Always run `make test`.", "Never push to main!")
    assert heard_in("```\nAlways in code.\n```\n> Always in a quote.").standing == ()


pieces = st.sampled_from(
    ["always", "never ", "immer", "nunca", "\n", "。", "必ず", "不要提", '"', "`", "-", " ", "?", "no"]
)


@given(st.one_of(st.text(max_size=60), st.lists(pieces, max_size=30).map("".join)))
def test_any_text_is_read(text: str) -> None:
    assert all(sentence in text for sentence in heard_in(text).standing)
    assert (polarity(text) in ("rule", "meta")) >= bool(heard_in(text).standing)


def test_an_instruction_is_told_behind_what_leads_to_it_and_once_however_it_is_written() -> None:
    assert same_instruction("Always  test.") == same_instruction("always test")
    led = said("""And in tests never sleep, use the fixture. | and no bare excepts | plus never commit to main
    | Also please from now on: short answers.""")
    assert [text for text in led if not heard_in(text).standing] == []
    bare = said("We met at nine from now on then. | No bare metal is left here. | In tests the worker never sleeps.")
    assert [text for text in bare if heard_in(text).standing] == []


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "\ud800", ""]), max_size=40), st.integers(1, 4))
def test_what_is_remembered_is_what_is_worked_out(asked: list[str], most: int) -> None:
    """However few are kept; what was asked of last is worked out once."""
    worked: list[str] = []

    @remembered(most)
    def doubled(text: str) -> str:
        worked.append(text)
        return text * 2

    assert [doubled(text) for text in asked] == [text * 2 for text in asked]
    before = len(worked)
    assert not asked or (doubled(asked[-1]) == asked[-1] * 2 and len(worked) == before)
