#!/bin/sh
# Memtape at work, in a home that is thrown away at the end: capture, project, search, forget, verify, look.
set -eu

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export MEMTAPE_HOME="$home"
unset MEMTAPE_LOG
scope="--scope project:lighthouse"
here=$(dirname "$0")

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
try() { printf '$ memtape %s\n' "$*"; memtape "$@"; }

say "Three agents and a person talk about one project. Everything they say goes on the log."
try capture - $scope < "$here/../tools/sample/conversation.jsonl"

say "The views are made from the log: LanceDB tables and Markdown."
try run --once

say "Every agent asks the same memory."
try search "which port does the staging database use" $scope --limit 3
try search "alerts between 22:00 and 06:00" $scope --limit 2

say "With MiniLM installed, a question in other words finds it too."
try search "how do SMS reach people" $scope --limit 2

say "One fact was said twice and is one memory; a new port is a revision and both stay."
id=$(memtape search "staging database port" $scope --quiet --json --kind fact |
    python3 -c 'import json, sys; r = json.load(sys.stdin)["results"]; print(next(x["id"] for x in r if x["confirmations"]))')
try show "$id" --why $scope

say "What is forgotten is hidden until it is restored."
try forget "$id" $scope
try search "staging database port 5433" $scope --kind fact --limit 2
try restore "$id" $scope

say "A replay of the log gives the same views, hash for hash."
try run --once
try verify
try status

say "The Markdown that people read: vault/projects/lighthouse/MEMORY.md"
cat "$home/vault/projects/lighthouse/MEMORY.md"
