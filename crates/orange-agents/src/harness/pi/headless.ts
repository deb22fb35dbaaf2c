// Orange's extension for a turn of pi without a terminal: what earlier turns of the conversation used is said on standard
// error, and tools that the permissions do not allow are refused, because nobody is there to be asked.
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const permissions = process.env.ORANGE_HEADLESS_PERMISSIONS ?? "ask";
const reading = ["read", "grep", "find", "ls"];
const editing = ["edit", "write"];

export default function (pi: any) {
  pi.on("session_start", async (_event: any, context: any) => {
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } };
    for (const entry of context.sessionManager.getEntries?.() ?? []) {
      const used = entry?.message?.role === "assistant" ? entry.message.usage : undefined;
      usage.input += used?.input ?? 0;
      usage.output += used?.output ?? 0;
      usage.cacheRead += used?.cacheRead ?? 0;
      usage.cacheWrite += used?.cacheWrite ?? 0;
      usage.cost.total += used?.cost?.total ?? 0;
    }
    process.stderr.write(`orange: ${JSON.stringify({ type: "earlier-usage", usage })}\n`);
  });

  // pi tells of answers that are none without their headers, and those say until when a limit lasts.
  const moment = (value: string | null) => {
    if (!value) return undefined;
    const span = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(value);
    const number = Number(value);
    let at = Date.parse(value);
    if (number > 1e12) at = number;
    else if (number > 1e9) at = number * 1000;
    else if (number >= 0) at = Date.now() + number * 1000;
    else if (span) at = Date.now() + (Number(span[1] ?? 0) * 3600 + Number(span[2] ?? 0) * 60 + Number(span[3] ?? 0)) * 1000;
    return Number.isFinite(at) ? new Date(at).toISOString() : undefined;
  };
  const headers = [
    "anthropic-ratelimit-unified-reset",
    "retry-after",
    "x-ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
  ];
  const fetchAsEver = globalThis.fetch;
  globalThis.fetch = async (...request: Parameters<typeof fetch>) => {
    const response = await fetchAsEver(...request);
    const found = headers.map((name) => moment(response.headers.get(name))).find((at) => at);
    const until = response.status === 429 ? found : undefined;
    process.stderr.write(`orange: ${JSON.stringify({ type: "limit", until })}\n`);
    return response;
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
  const isInside = (event: any, context: any) => {
    const folder = context?.cwd ?? process.cwd();
    const path = resolve(folder, String(event.input?.path ?? event.input?.file_path ?? ""));
    return real(path).startsWith(`${real(folder)}/`);
  };

  pi.on("tool_call", async (event: any, context: any) => {
    if (permissions === "full" || reading.includes(event.toolName)) return undefined;
    if (permissions === "edits" && editing.includes(event.toolName) && isInside(event, context)) return undefined;
    const reason = `the permission mode of this turn is "${permissions}", and nobody is there to be asked: ${event.toolName} is refused`;
    return { block: true, reason };
  });
}
