"""The words by which `instructions` finds a standing instruction, as patterns. No rule is here.

The lists are the project's own; a word is in a list if the list's effect is right for most readings of it.
"""

from __future__ import annotations


def any_of(words: str) -> str:
    """Return a pattern of any of the words, which are patterns themselves; `_` stands for a space."""
    return "(?:" + "|".join(words.split()).replace("_", " ") + ")"


VERBS = any_of("""
    use add write include generate create suggest apologi[sz]e explain summari[sz]e format reply respond
    answer commit push import install run test check log lint mock delete cite ask touch edit change modify
    remove merge skip call rename hard-?code rely store send expose translate refactor upgrade deploy
    publish tag squash force put place keep prefer avoid follow stick name document update review verify
    validate escape quote sort group wrap indent pin sign start end make do show tell open disable ignore
    return assume guess leave build release revert rebase mention bump share upload embed print catch
    support accept allow abbreviate repeat introduce rerun edit point work stop send inline read set save
    store prefix treat confirm report specify define describe list state note mark provide require clean plan
    wait search switch split omit reference target pull fetch reuse wrap
""")
DOING = any_of("(?:us|add|writ|includ|creat|suggest|apologi[sz]|explain|summari[sz]|ask|mak|repeat|wrapp|chang)ing")
THINGS = any_of("""
    (?:commit_|error_|log_|status_)?messages? commits? prs? pr_(?:titles?|descriptions?) pull_requests?
    branch(?:es)? (?:branch_|file_|test_|variable_)names? titles? (?:unit_|integration_|e2e_)?tests?
    test_files? fixtures? mocks? functions? methods? class(?:es)? modules? files? components? endpoints?
    routes? migrations? docstrings? comments? code names? variables? constants? env_vars? imports?
    dependenc(?:y|ies) packages? librar(?:y|ies) logs? errors? timestamps? dates? secrets? credentials keys
    docs documentation changelogs? types? (?:type_)?(?:hints|annotations) (?:api_)?responses? repl(?:y|ies)
    answers? explanations? summaries quer(?:y|ies) tables? columns? schemas? scripts? configs? flags?
    releases? fixe?s features? changes paths urls? strings? ids? lines styles css todos? examples
    code_blocks sentences? interfaces? diffs? globals commands? markdown semicolons quotes tabs spaces
    emojis? headings? helpers? python typescript javascript rust shell bash abbreviations (?:em[- ])?dashes
    (?:\\w+_)?exports prints? console\\.log force[- ]push(?:es|ing)? any acronyms jargon exclamation_marks
    (?:trailing_)?commas bullets? hard-?coded_\\w+ co-authored-by(?:_lines)? apologies small_talk
    default_exports inline_styles singletons inheritance statements regex(?:es)? lambdas? decorators?
    submodules unwraps? sudo eval excepts? except_clauses
""")
"""The parts of code and of work on code, and what people want or ban everywhere."""
LANGUAGES = (
    r"(?:(?:british|american|plain|simple|us|uk) )?(?:english|german|french|spanish|italian|portuguese|dutch|polish"
    r"|russian|chinese|japanese|korean)"
)
STYLES = any_of("""
    conventional_commits (?:absolute|relative|named|default)_(?:im|ex)ports tabs (?:two|four|2|4)[_-]spaces?
    semver semantic_versioning (?:single|double)_quotes snake_case camelcase pascalcase kebab-case utc
    iso[_-]?8601 (?:the_)?imperative(?:_mood)? functional_components early_returns f-strings dataclasses
    type_hints metric_units (?:british|american|us|uk)_(?:english|spelling) composition present_tense
    active_voice sentence_case lower_?case upper_?case
""")
TASKS = any_of("""
    add write create implement fix build generate rename update change refactor remove delete move extract
    find explain show tell list translate make check test document turn convert replace help design draft
    set
""")
PRODUCT = any_of("""
    users? admins? customers? clients? visitors? members? contributors? participants? parsers? forms?
    buttons? dialogs? pages? screens? fields? inputs? rows? headers? bots? agents? servers? sockets?
    requests? retries cron_jobs? queues? workers? validators? exporters? linters? endpoints? responses?
    emails? invoices? orders? passwords? accounts? functions? methods? loops? ids? timestamps? caches?
    services? apps? plugins? api tokens? modes? it
""")
"""The parts, users and subjects of a program being written."""
