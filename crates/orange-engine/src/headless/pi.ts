// Orange's extension for a turn of pi without a terminal: what earlier turns of the conversation used is said on standard
// error, and tools that the permissions do not allow are refused, because nobody is there to be asked.
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

  pi.on("tool_call", async (event: any) => {
    const allowed = permissions === "edits" ? [...reading, ...editing] : reading;
    if (permissions === "full" || allowed.includes(event.toolName)) return undefined;
    const reason = `the permission mode of this turn is "${permissions}", and nobody is there to be asked: ${event.toolName} is refused`;
    return { block: true, reason };
  });
}
