// Orange's extension for pi: what the agent does goes to the run's folder, and messages come from there.
// The line before this one says which folder that is.
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";

export default function (pi: any) {
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

  const deliver = () => {
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
      handed.set(message.id, message.text);
      pi.sendUserMessage(message.text, { deliverAs: "followUp" });
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
    begins = setTimeout(notBegun, 5000);
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
    return Number.isFinite(at) && at < 8e15 ? new Date(at).toISOString() : undefined;
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
    const stop = last?.stopReason;
    if (stop === "aborted" || /operation was aborted/i.test(last?.errorMessage ?? "")) signal("interrupted");
    else if (stop === "error") signal("turn-failed", { text: last.errorMessage ?? "", ...failure(last.errorMessage ?? "") });
    else signal("turn-done", { text: words(last) });
  });

  pi.on("session_shutdown", async () => {
    clearInterval(timer);
    clearTimeout(begins);
  });
}
