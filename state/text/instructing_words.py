"""The words by which `instructing` finds an English standing instruction. No rule is here."""

from __future__ import annotations

CUES = tuple(
    cue.replace("_", " ")
    for cue in """
    always never ever_ ever. prefer rather from_now from_here going_forward future don't don’t dont stop no_ remember
    every each_ must should need_ needs_ use_ uses_ avoid keep only ask_ answer reply respond speak write_ when if_
    before after by_default in_general generally rule convention policy style forbidden allowed banned mandatory
    required off_limits off-limits prohibited go_ goes_ belong put_ follow stick name_ sign_ run_ format sort_ order_
    prefix group_ indent place_ store_ squash document pin_ wrap log_ ensure make_sure preference commit test_
    communicate projekt projet please pls without live_ lives_ spelling nothing not_ anywhere case concise brief
    english names: naming
    """.split()
)
"""A text without any of these words sets no instruction."""


def _any(words: str) -> str:
    """Return a pattern of any of the words, which are patterns themselves; `_` stands for a space."""
    return "(?:" + "|".join(words.split()).replace("_", " ") + ")"


VERBS = _any("""
    use add write include generate create suggest apologi[sz]e explain summari[sz]e format reply respond answer commit
    push import install run test check log lint rebase mock delete cite ask touch edit change modify remove merge skip
    catch call rename print hard-?code bypass rely store send expose translate reformat refactor upgrade bump deploy
    publish tag squash force put place keep prefer avoid follow stick name declare define document update review verify
    validate escape quote sort group wrap indent pin lock sign start begin end finish stop make do be go give show tell
    say speak talk read open close ignore disable enable set return raise throw handle assume guess leave let have work
    build compile release ship revert reset amend cherry-pick fetch pull clone fork stage stash branch target link copy
    paste move invent mention note state list number split extract inline export type annotate cast embed cover assert
    benchmark profile measure monitor restart migrate seed truncate drop alter query join index cache trust share
    upload download access execute launch co-author invoke trigger schedule wait double-check confirm approve warn
    notify report describe comment mutate credit attribute introduce implement pass pipe redirect bind mount save
    overwrite override suppress silence swallow nest chain reuse duplicate repeat abbreviate capitali[sz]e lowercase
    pluralize prefix render fix clean consult treat think look try depend disclose reveal encrypt hash load
    fall_back omit reference refer require specify plan propose outline present switch resolve separate leak proceed
    feed rewrite discard bring recommend offer mark search rerun re-run regenerate vendor pick choose adopt support
    allow accept hand-?(?:write|edit|roll) spell
""")
DOING = _any("""
    (?:us|add|writ|includ|generat|creat|suggest|apologi[sz]|explain|summari[sz]|format|reply|respond|answer|committ|push
    import|install|runn|test|check|logg|lint|rebas|mock|delet|ask|touch|edit|chang|modify|remov|merg|skipp|catch|call
    renam|print|hard-?cod|rely|stor|send|refactor|upgrad|bump|deploy|publish|tagg|squash|forc|putt|mak|leav|wrapp|repeat
    tell|end|start|say|prais|assum|guess|invent|overwrit|split|abbreviat|reformatt|releas|implement|mention|ignor|open|do
    introduc|mov|updat|fix|prefix|thank|pasting|dump|restat|comment|inlin|touch|reintroduc|sprinkl|turn|bring|giv|show)ing
""")
HABITS = _any("use prefer avoid keep write name follow stick sign ask answer reply respond put store log format stay")
KINDS = _any("""
    commits? (?:commit|error|log|merge|exception|warning|status)_messages? messages? prs? pull_requests?
    merge_requests? branch(?:es)? branch_names? (?:pr_|commit_)?titles? (?:pr_)?descriptions?
    (?:unit_|integration_|e2e_|regression_)?tests? test_(?:files?|names?|cases?) fixtures? mocks? functions? methods?
    class(?:es)? modules? files? file_?names? components? (?:react_)?hooks? endpoints? routes? handlers? migrations?
    docstrings? comments? code names? identifiers? variables? variable_names? constants?
    env(?:ironment)?_var(?:s|iables?)? imports? dependenc(?:y|ies) deps packages? librar(?:y|ies) logs? log_lines?
    errors? exceptions? timestamps? datetimes? dates? times secrets? credentials api_keys keys docs doc_pages
    documentation changelogs? change_?log_entries types? type_hints apis? (?:api_)?responses replies answers?
    explanations? summaries quer(?:y|ies) sql(?:_keywords)? keywords tables? columns? schemas? (?:shell_)?scripts?
    configs? settings flags? feature_flags releases? versions? deploys? deployments? bug_?fix(?:es)? fix(?:es)?
    features? refactors changes new_code paths urls? (?:user-facing_|ui_)?(?:strings?|text) ids? indent\\w* lines
    styles css assets images diagrams charts reviews plans todos? examples snippets code_(?:blocks|comments|samples)
    interfaces? structs? enums? services? controllers? issues? tickets? diffs? globals (?:shell_)?commands markdown
    readmes? semicolons quotes tabs emojis? generated_(?:code|files) headings? props helpers? wrappers? python
    typescript javascript rust go_code shell bash tsx? specs
""")
"""The parts of code, and of work on code."""
TALK = _any("answers replies responses explanations summaries messages comments reports updates output")
LANGUAGES = (
    r"(?:(?:british|american|plain|simple|proper|formal|us|uk) )?(?:english|german|french|spanish|italian|portuguese"
    r"|dutch|polish|russian|chinese|japanese|korean|deutsch|swedish|norwegian|danish|finnish|turkish|hindi|arabic)"
)
STYLES = _any("""
    conventional_commits (?:absolute|relative|named|default|wildcard)_(?:im|ex)ports? type_hints type_annotations tabs
    (?:two|four|2|4|8)[_-]spaces?(?:_indent\\w*|_for_indent\\w*)? spaces semantic_versioning semver
    (?:single|double)_quotes snake_case camelcase pascalcase kebab-case screaming_snake_case utc
    iso[_-]?8601(?:_dates)? (?:the_)?imperative(?:_mood)? (?:function(?:al)?|class)_components early_returns
    strict_mode async/await f-strings dataclasses trailing_commas metric_units utf-8 lf_line_endings
    (?:british|american|us|uk)_(?:english|spelling) guard_clauses composition dependency_injection
    parameteri[sz]ed_queries prepared_statements typescript_strict_mode present_tense active_voice squash_merges
    signed_commits feature_branches trunk[-_]based_development oxford_commas? sentence_case title_case
    small_(?:commits|prs|functions) pure_functions lower_?case upper_?case structured_logging
""")
TOOLS = _any("""
    npm pnpm yarn bun pip pipx uv poetry conda hatch tox nox pytest unittest jest vitest mocha playwright cypress ruff
    black flake8 isort pylint mypy pyright eslint prettier biome make just ninja cmake gradle maven cargo bazel docker
    podman compose git gh rg ripgrep grep fd logger print loguru structlog console\\.log fetch axios curl httpx
    requests dayjs moment lodash tailwind zsh bash unknown any interface type
""")
"""Tools and language terms of which a project has one."""
UNWANTED = _any("""
    emojis? (?:inline_|code_|todo_)?comments semicolons abbreviations mocks? em[-_]?dashes
    (?:default|wildcard|star|relative)_(?:exports|imports) globals global_(?:state|variables) print(?:_statements|s)?
    console\\.logs? magic_numbers force[-_]push(?:es|ing)? (?:direct_)?(?:push(?:es)?|commits) any_types?
    (?:merge|wip)_commits todos? acronyms jargon exclamation_marks tabs trailing_(?:whitespace|commas|period)
    hard-?coded_\\w+ bullet_(?:points|lists) preambles? apologies small_talk filler flattery
    co-authored-by(?:_lines?|_trailers?)? (?:new|external|third-party)_dependenc(?:y|ies) inline_(?:styles|css)
    nested_ternar(?:y|ies) one-letter_(?:names|variables) raw_sql barrel_files snapshots?(?:_tests)? sleeps?
    marketing_(?:speak|language) summaries drive-by_\\w+ match_statements (?:class_)?inheritance floats singletons
    wildcards? lambdas? decorators? (?:git_)?submodules (?:ts-ignores?|type:_ignores?) eslint-disables?
    bare_(?:excepts?(?:_(?:clauses?|blocks?))?|type:?_ignores?|dicts?|asserts?|strings?|quoted)
    commented-out_code dead_code monkey-?patch\\w* any unwraps? (?:unsafe|eval|goto|var|lodash|moment|jquery)
""")
HELD = _any("""
    written named stored formatted placed kept made done tested squashed merged sorted signed reviewed documented typed
    logged returned sent in under over singular plural lower_?case upper_?case snake_case camelcase kebab-case
    pascalcase small short required mandatory prefixed suffixed grouped indented generated run defined declared created
    imported exported pinned validated escaped quoted idempotent reversible immutable pure async private frozen wrapped
    encrypted iso utc at_most no_longer less fewer covered checked approved linked tagged capitali[sz]ed atomic
    backwards?[-_]compatible deterministic self-contained split called lowercased
""")
"""Participles for how all things of a kind are made or kept."""
TASKS = _any("""
    add write create implement fix build generate rename update change refactor remove delete move extract find explain
    show tell list translate look search make check verify test document set_up turn convert replace help design draft
    let give put summari[sz]e review port clone compare define configure see investigate debug describe set enforce
    tighten
""")
PRODUCT = _any("""
    users? admins? editors? viewers? customers? clients? visitors? guests? members? players? students? contributors?
    participants? parsers? forms? buttons? dialogs? modals? popups? pages? screens? fields? inputs? checkbox(?:es)?
    rows? cells? headers? footers? sidebars? menus? dropdowns? tooltips? links? toggles? banners? bots? chatbots?
    agents? servers? sockets? connections? sessions? requests? retries cron_jobs? queues? consumers? producers?
    workers? threads? validators? exporters? importers? linters? schedulers? endpoints? responses? payloads? webhooks?
    emails? notifications? invoices? orders? carts? prices? passwords? usernames? accounts? uploads? downloads?
    exports? functions? methods? constructors? loops? ids? timestamps? cursors? caches? loaders? renderers? services?
    apps? plugins? cli commands? games? sprites? models? animations? api tokens? cookies? modes? it
""")
"""The parts, users and subjects of a program being written."""
