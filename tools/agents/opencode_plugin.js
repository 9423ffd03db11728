// Memtape for OpenCode. `memtape agents connect opencode` writes this file and `memtape agents disconnect opencode` deletes it.
import { spawn } from "node:child_process"

const HOOK = __HOOK__
const SERVER = __SERVER__
const WAIT_MS = __WAIT_MS__
const START_MS = __START_MS__

// Tell our hook what happened and return what it says; nothing of it ever stops the agent.
function tell(told) {
  return new Promise((done) => {
    let said = ""
    const child = spawn(HOOK[0], HOOK.slice(1), { cwd: told.cwd, stdio: ["pipe", "pipe", "ignore"] })
    const late = setTimeout(() => done(""), WAIT_MS)
    const end = (text) => (clearTimeout(late), done(text))
    child.on("error", () => end(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (said += data))
    child.on("close", () => end(said))
    child.stdin.end(JSON.stringify(told))
  })
}

export const Memtape = async ({ directory }) => {
  const sessions = new Set()
  const subagents = new Set()
  const answers = new Map()
  const told = (event, session, more) =>
    tell({ hook_event_name: event, session_id: session, cwd: directory, ...more }).catch(() => "")
  return {
    config: async (config) => {
      config.mcp ??= {}
      config.mcp.memtape ??= { type: "local", command: SERVER, enabled: true, timeout: START_MS }
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created" && event.properties.info?.parentID) subagents.add(session)
      if (!sessions.has(session)) return
      if (event.type === "session.compacted") await told("PreCompact", session)
      const answer = event.type === "session.idle" && answers.get(session)
      if (!answer) return
      answers.delete(session)
      await told("Stop", session, { prompt_id: answer.id, last_assistant_message: answer.text })
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
      const prompt = typed.map((part) => part.text).join("\n")
      if (!prompt || subagents.has(sessionID)) return
      sessions.add(sessionID)
      const said = await told("UserPromptSubmit", sessionID, { prompt_id: message.id, prompt })
      let text
      try {
        text = JSON.parse(said).hookSpecificOutput.additionalContext
      } catch {
        return
      }
      // Parts are kept in the order of their ids.
      const id = `${parts[parts.length - 1].id}0`
      parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text })
    },
    "experimental.text.complete": async ({ sessionID, messageID }, { text }) => {
      const before = answers.get(sessionID)
      answers.set(sessionID, { id: messageID, text: before?.id === messageID ? `${before.text}\n${text}` : text })
    },
    dispose: async () => {
      await Promise.all([...sessions].map((session) => told("SessionEnd", session)))
    },
  }
}
