// Orange's extension for pi: what the agent does goes to the run's folder, and messages come from there.
// One file for all runs: the variable says which folder that is, and what the agent may do without asking.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";

export default function (pi: any) {
  if (!process.env.ORANGE_PI) return;
  const orange = JSON.parse(process.env.ORANGE_PI);
  const now = () => new Date().toISOString();
  const read = (name: string) => {
    try {
      return JSON.parse(readFileSync(`${orange.folder}/${name}`, "utf8"));
    } catch {
      return undefined;
    }
  };

  // One line with one write, so that two at once stay two lines; then Orange is woken.
  const signal = (kind: string, more: any = {}) => {
    // `more` may say when.
    appendFileSync(`${orange.folder}/signals.jsonl`, JSON.stringify({ at: now(), signal: kind, ...more }) + "\n");
    const started = read("started.json");
    try {
      if (started) process.kill(started.process.pid, "SIGUSR1");
    } catch {
      // It looks by itself a little later.
    }
  };

  const usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost: 0 };
  const count = (used: any) => {
    usage.input += used?.input ?? 0;
    usage.output += used?.output ?? 0;
    usage.cache_read += used?.cacheRead ?? 0;
    usage.cache_write += used?.cacheWrite ?? 0;
    usage.cost += used?.cost?.total ?? 0;
  };
  const noteUsage = () => {
    const path = `${orange.folder}/usage.json`;
    writeFileSync(`${path}.pi`, JSON.stringify(usage));
    renameSync(`${path}.pi`, path);
  };

  const words = (message: any) => {
    const parts = Array.isArray(message?.content) ? message.content : [{ type: "text", text: message?.content }];
    return parts.filter((part: any) => part.type === "text").map((part: any) => part.text).join("\n");
  };

  // Messages that were handed to pi, so that none is handed over twice, and what each of them says.
  const handed = new Map<string, string>();
  let session: any;
  let last: any;
  let timer: any;

  // When a message was handed to an agent that was idle. Until that has begun, pi would take the next one for another
  // beginning and lose it.
  let beginning = 0;

  const deliver = () => {
    if (session.isIdle() && Date.now() - beginning < 5000) return;
    const waiting = readdirSync(`${orange.folder}/inbox`)
      .filter((name) => name.endsWith(".json"))
      .map((name) => read(`inbox/${name}`))
      .filter((message) => message && !handed.has(message.id) && !read(`inbox/${message.id}.outcome`))
      .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : one.id < other.id ? -1 : 1));
    for (const message of waiting) {
      if (message.interrupt && !session.isIdle()) {
        // The next look finds it idle.
        session.abort();
        return;
      }
      const begins = session.isIdle();
      handed.set(message.id, message.text);
      pi.sendUserMessage(message.text, { deliverAs: "followUp" });
      if (begins) {
        beginning = Date.now();
        return;
      }
    }
  };

  pi.on("session_start", async (_event: any, context: any) => {
    session = context;
    for (const entry of context.sessionManager.getEntries?.() ?? []) {
      if (entry?.message?.role === "assistant") count(entry.message.usage);
    }
    signal("session-started", {
      conversation: context.sessionManager.getSessionId(),
      transcript: context.sessionManager.getSessionFile?.(),
    });
    clearInterval(timer);
    timer = setInterval(deliver, 100);
  });

  pi.on("input", async (event: any) => {
    const ours = event.source === "extension" ? [...handed].find(([, text]) => text === event.text) : undefined;
    if (ours) handed.set(ours[0], "");
    signal("prompt-taken", { text: event.text, message: ours?.[0] });
    clearTimeout(begins);
    // What comes in the middle of a run begins nothing.
    if (session.isIdle()) begins = setTimeout(notBegun, 5000);
  });

  // Until when the last limit lasts that the model's service told of.
  let limit: string | undefined;

  const kinds: any = {
    400: "invalid_request",
    401: "authentication_failed",
    402: "billing_error",
    403: "authentication_failed",
    404: "model_not_found",
    413: "invalid_request",
    429: "rate_limit",
    529: "overloaded",
  };
  const kind = (status: number) => kinds[status] ?? (status >= 500 ? "server_error" : undefined);

  // A number of seconds, a date, a time in (milli)seconds since 1970, or such as 6m0s.
  const moment = (value: any) => {
    if (value === undefined || value === null || value === "") return undefined;
    const text = String(value);
    const span = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(text);
    let at = NaN;
    const number = Number(text);
    if (number > 1e12) at = number;
    else if (number > 1e9) at = number * 1000;
    else if (number >= 0) at = Date.now() + number * 1000;
    else if (span) at = Date.now() + (Number(span[1] ?? 0) * 3600 + Number(span[2] ?? 0) * 60 + Number(span[3] ?? 0)) * 1000;
    else at = Date.parse(text);
    // Nobody waits for years: that is no time that anybody meant.
    return Number.isFinite(at) && at < Date.now() + 400 * 86400e3 ? new Date(at).toISOString() : undefined;
  };

  // pi tells of answers that are none without their headers, and those say until when a limit lasts.
  const limitOf = (headers: Headers) => {
    const names = [
      "anthropic-ratelimit-unified-reset",
      "retry-after",
      "x-ratelimit-reset",
      "x-ratelimit-reset-requests",
      "x-ratelimit-reset-tokens",
    ];
    return names.map((name) => moment(headers.get(name))).find((at) => at);
  };
  const fetchAsEver = globalThis.fetch;
  globalThis.fetch = async (...request: Parameters<typeof fetch>) => {
    const response = await fetchAsEver(...request);
    if (response.status === 429) limit = limitOf(response.headers);
    return response;
  };

  // The text of an error begins with its status, if the service gave one.
  const failure = (text: string) => {
    const status = Number(/^\s*(\d{3})\b/.exec(text)?.[1]);
    const error = kind(status) ?? "unknown";
    return { error, until: error === "rate_limit" ? limit : undefined };
  };

  // Without an account it takes a prompt and does nothing about it.
  let begins: any;
  const notBegun = () => {
    if (!session.isIdle()) return;
    signal("turn-failed", { text: "pi took the prompt and did nothing: no API key for its model?", error: "authentication_failed" });
  };

  pi.on("agent_start", async () => {
    beginning = 0;
    clearTimeout(begins);
    last = undefined;
    limit = undefined;
    signal("working");
  });

  pi.on("message_end", async (event: any) => {
    if (event.message?.role !== "assistant") return;
    last = event.message;
    count(event.message.usage);
    noteUsage();
  });

  pi.on("agent_settled", async () => {
    clearTimeout(begins);
    const stop = last?.stopReason;
    if (stop === "aborted" || /operation was aborted/i.test(last?.errorMessage ?? "")) signal("interrupted");
    else if (stop === "error") signal("turn-failed", { text: last.errorMessage ?? "", ...failure(last.errorMessage ?? "") });
    else signal("turn-done", { text: words(last) });
  });

  // What a tool call would do, by the permission mode: "allow", "ask" or "refuse".
  // By name, and as it stands there: whatever is not in the list, or is written in another way, is asked for.
  const commands =
    /^(git (status|diff|log|show|add|commit)|orange (prompt|workflow|ls|task( --json)? (answer|cancel|complete|create|delete|deps|list|path|peek|request-changes|rescue|resolve|respawn|restore|retry-hooks|send|show|spawn|stuck|update|wait|why)))( |$)/;
  const plain = (command: string) => !/[;&|<>`\r\n\\]|\$[({'"]/.test(command) && !writes.test(command.replace(/["']/g, ""));
  // Looking may write too: git log --output=FILE, also cut short.
  const writes = /\s--ou|\s--ext-d/;
  const reading = ["read", "grep", "find", "ls"];
  const changing = ["write", "edit"];
  const pushing = /\bgit(\s+-\S+(\s+[^-\s]\S*)??)*\s+(push|send-pack)\b|\bgh\s+(pr|issue)\s+(comment|create|edit|close|merge|review|reopen)\b|\bgh\s+release\s+create\b/;
  const inside = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
  const judge = (event: any, context: any) => {
    const command = String(event.input?.command ?? "").trim();
    if (event.toolName === "bash" && pushing.test(command)) return "refuse";
    if (orange.permissions === "full" || reading.includes(event.toolName)) return "allow";
    if (event.toolName === "bash" && plain(command)) {
      const found = command.match(commands);
      if (found && (orange.permissions === "edits" || command.startsWith("orange "))) return "allow";
    }
    if (changing.includes(event.toolName)) {
      const path = resolve(context.cwd ?? process.cwd(), String(event.input?.path ?? event.input?.file_path ?? ""));
      // TASK.md is a link that leads out of the worktree, and is the agent's own to write.
      if (real(path) === real(`${orange.task}/TASK.md`)) return "allow";
      if (orange.permissions === "edits" && inside(real(path), real(context.cwd ?? process.cwd()))) return "allow";
    }
    return "ask";
  };
  // Where a path leads, also one of a file that is not there yet.
  const real = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      const above = dirname(path);
      return above === path ? path : join(real(above), basename(path));
    }
  };
  const what = (event: any) => {
    const input = event.input ?? {};
    return `${event.toolName}: ${input.command ?? input.path ?? input.file_path ?? JSON.stringify(input)}`;
  };

  // A person answers in the window or from outside, whoever is first.
  const ask = async (event: any, context: any) => {
    const id = randomBytes(6).toString("hex");
    const text = what(event);
    const at = now();
    mkdirSync(`${orange.folder}/questions`, { recursive: true });
    const path = `${orange.folder}/questions/${id}.json`;
    writeFileSync(`${path}.pi`, JSON.stringify({ id, at, text, tool: event.toolName, input: event.input, cwd: context.cwd ?? process.cwd() }));
    renameSync(`${path}.pi`, path);
    signal("permission-asked", { at, text, question: id });
    const closed = new AbortController();
    let look: any;
    const outside = new Promise<any>((resolve) => {
      look = setInterval(() => {
        const answer = read(`answers/${id}.json`);
        if (answer) resolve({ ...answer, outside: true });
      }, 100);
    });
    const options = ["Allow", "Deny"];
    const shown = context.hasUI ? context.ui.select(`Allow ${text}`.slice(0, 400), options, { signal: closed.signal }) : new Promise(() => {});
    const here = shown.then((choice: any) => ({ allow: choice === "Allow", message: "" }));
    const answer = await Promise.race([outside, here]);
    clearInterval(look);
    closed.abort();
    const words = answer.rule ? `allowed by rule ${answer.rule}` : answer.allow ? "allowed" : answer.message ? `denied: ${answer.message}` : "denied";
    signal("working", { question: id, text: answer.outside ? words : "answered in its window" });
    return answer;
  };

  pi.on("tool_call", async (event: any, context: any) => {
    const verdict = judge(event, context);
    if (verdict === "refuse") {
      const reason = "An agent of Orange does not push and does not post: that is a person's decision. Commit, and hand over.";
      return { block: true, reason };
    }
    if (verdict === "allow") return;
    const answer = await ask(event, context);
    if (!answer.allow) return { block: true, reason: answer.message || "The person said no." };
  });

  pi.on("session_shutdown", async () => {
    clearInterval(timer);
    clearTimeout(begins);
  });
}
