"""The choice of the embedder in effect: a table over wanted, available and recorded ones.

The choice never goes down by itself.

Finding the available embedders is an effect, and lives in `flows/embed/choice.py`.
"""

from __future__ import annotations

from memtape.schemas.embedding import EmbedderOptions, EmbedderRefusal, Kind, Probed, Resolved

REFUSAL = EmbedderRefusal(
    message="The log has dense vectors or is to have them, and no embedder is set up here to go on with them.",
    hint="Set MEMTAPE_EMBED_URL and MEMTAPE_EMBED_MODEL and start again what runs already, or install "
    "memtape[meaning] or the model that was used; or choose the embedder floor to go on by words alone.",
)


def resolve(options: EmbedderOptions, probed: Probed, dense_on_log: bool) -> Resolved | EmbedderRefusal:
    """Return the embedder in effect, or a refusal where the log has dense vectors and no embedder is set up for them.

    | wanted and set up | answers | dense vectors on the log | in effect |
    | --- | --- | --- | --- |
    | yes | yes | either | the dense one |
    | yes | no | yes | the dense one, degraded: loud, and it resumes |
    | yes | no | no | `auto` tries the next; at last the floor |
    | no | - | yes | refused, with what to do |
    | no | - | no | the floor |

    `floor` by name is a person's decision, and is always followed; dense vectors that then lie idle are warned of.
    """
    if options.choice == "floor":
        idle = "The log has dense vectors, which the chosen embedder floor does not use." if dense_on_log else ""
        return Resolved(kind="floor", warning=idle)
    wanted = _set_up(options, probed)
    if not wanted:
        return REFUSAL if dense_on_log else Resolved(kind="floor", warning=_nothing_set_up(options))
    for kind, reason in wanted:
        if not reason:
            return Resolved(kind=kind, warning=_passed_over(wanted, kind))
        if dense_on_log:
            # The next one's vectors could not be compared with those that are there.
            return Resolved(kind=kind, degraded=True, warning=_degraded(kind, reason))
    return Resolved(kind="floor", warning=_passed_over(wanted, "floor"))


def _set_up(options: EmbedderOptions, probed: Probed) -> list[tuple[Kind, str]]:
    """Return the dense embedders that are wanted and set up, best first, each with why it cannot be used or nothing."""
    wanted: list[tuple[Kind, str]] = []
    if options.choice in ("auto", "http") and probed.http_configured:
        wanted.append(("http", probed.http_reason))
    # Nobody has asked for a local model by name under `auto`, so one that is missing there is simply not set up.
    if options.choice == "local" or (options.choice == "auto" and not probed.local_reason):
        wanted.append(("local", probed.local_reason))
    return wanted


def _nothing_set_up(options: EmbedderOptions) -> str:
    if options.choice == "http":
        return "The embedder http is chosen and MEMTAPE_EMBED_URL is not set, so the lexical floor is used."
    return ""


def _degraded(kind: Kind, reason: str) -> str:
    return f"DEGRADED: {reason}; the vectors on the log stay in use, new texts are found by words until {kind} is back."


def _passed_over(wanted: list[tuple[Kind, str]], taken: Kind) -> str:
    """Return the reasons why the more wanted embedders were not taken, empty for none."""
    reasons = [reason for _, reason in wanted if reason]
    if not reasons:
        return ""
    name = "the lexical floor" if taken == "floor" else f"the embedder {taken}"
    return f"{'; '.join(reasons)}; so {name} is used."
