/**
 * A server of VENDORS.md that hides old calls as `context_management` asks for: the edit `clear_tool_uses_20250919`,
 * what the API refuses about it, and what it reports.
 * <https://platform.claude.com/docs/en/build-with-claude/context-editing> (2026-11-29)
 */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const BETA = "context-management-2025-06-27";

export interface Clearing {
  readonly fetch: Fetch;
  /** The requests as they came. */
  readonly bodies: string[];
  /** The field of each of them. */
  readonly asked: any[];
  /** The messages of each of them, as the model sees them. */
  readonly seen: any[][];
}

export function clearing(inner: Fetch): Clearing {
  const bodies: string[] = [];
  const asked: any[] = [];
  const seen: any[][] = [];
  const refused = (message: string) =>
    Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
  const fetch: Fetch = async (url, init) => {
    const text = await new Response(init.body).text();
    const { context_management: field, ...body } = JSON.parse(text);
    bodies.push(text);
    asked.push(field);
    if (field === undefined) {
      seen.push(body.messages);
      return inner(url, { ...init, body: JSON.stringify(body) });
    }
    if (!(new Headers(init.headers).get("anthropic-beta") ?? "").includes(BETA))
      return refused("context_management: Extra inputs are not permitted");
    if (body.compaction !== undefined) return refused("compaction: not with context_management");
    const [edit] = field.edits;
    const messages = structuredClone(body.messages);
    const blocks: any[] = messages.flatMap(({ content }: any) => (Array.isArray(content) ? content : []));
    const calls = blocks.filter(({ type }) => type.endsWith("tool_use"));
    const isTriggered = calls.length > (edit.trigger?.value ?? 0);
    const old = isTriggered ? calls.slice(0, Math.max(0, calls.length - edit.keep.value)) : [];
    const before = JSON.stringify(messages).length;
    for (const call of old) {
      call.input = {};
      const result = blocks.find(({ tool_use_id }) => tool_use_id === call.id);
      result.content = "[cleared]";
    }
    seen.push(messages);
    const tokens = Math.ceil((before - JSON.stringify(messages).length) / 4);
    const response = await inner(url, { ...init, body: JSON.stringify(body) });
    if (!response.ok) return response;
    const edits = old.length > 0 ? [{ cleared_tool_uses: old.length, cleared_input_tokens: tokens }] : [];
    const report = { applied_edits: edits.map((one) => ({ type: edit.type, ...one })) };
    const fewer = (usage: any) => ({ ...usage, input_tokens: usage.input_tokens - tokens });
    const answer = await response.text();
    if (response.headers.get("content-type")?.includes("json")) {
      const message = JSON.parse(answer);
      return Response.json({ ...message, usage: fewer(message.usage), context_management: report });
    }
    const events = answer.split("\n").map((line) => {
      if (!line.startsWith("data: {")) return line;
      const event = JSON.parse(line.slice(6));
      if (event.type === "message_start") event.message.usage = fewer(event.message.usage);
      if (event.type === "message_delta")
        Object.assign(event, { usage: fewer(event.usage), context_management: report });
      return `data: ${JSON.stringify(event)}`;
    });
    return new Response(events.join("\n"), { headers: { "content-type": "text/event-stream" } });
  };
  return { fetch, bodies, asked, seen };
}
