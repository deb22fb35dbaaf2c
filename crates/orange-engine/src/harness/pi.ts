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
  });

  pi.on("agent_start", async () => {
    last = undefined;
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
    else if (stop === "error") signal("turn-failed", { text: last.errorMessage ?? "", error: "unknown" });
    else signal("turn-done", { text: words(last) });
  });

  pi.on("session_shutdown", async () => clearInterval(timer));
}
