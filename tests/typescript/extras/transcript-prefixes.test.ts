/** `checkTranscript` on request bodies: those that were written for it, and conversations recorded by other libraries. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkTranscript, repairTranscript, type TranscriptProtocol } from "looplet/transcript";

const user = (text: string): object => ({ role: "user", content: text });
const thinking = { type: "thinking", thinking: "Hm.", signature: "s" };
const answer = { role: "assistant", content: [thinking, { type: "text", text: "One." }] };
const first = {
  model: "claude-fable-5-2",
  system: "Be brief.",
  tools: [{ name: "a" }],
  messages: [user("one")],
};
const second = { ...first, messages: [user("one"), answer, user("two")] };

const found = (bodies: readonly object[], protocol: TranscriptProtocol = "anthropic"): string[] =>
  checkTranscript(bodies, protocol).map(({ path, code }) => `${path} ${code}`);

describe("checkTranscript with request bodies", () => {
  it("finds nothing where each request begins with the one before it", () => {
    expect(found([first, second])).toEqual([]);
  });

  it("takes cache markers, the order of fields, and a text in place of its block as equal", () => {
    const cached = [{ type: "text", text: "one", cache_control: { type: "ephemeral" } }];
    const { model, ...rest } = second;
    const other = { messages: [{ content: cached, role: "user" }, answer, user("two")] };
    const system = [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }];
    expect(found([first, { ...rest, ...other, system, max_tokens: 9, model }])).toEqual([]);
  });

  it("takes reasoning that is left out as equal", () => {
    const without = {
      ...second,
      messages: [user("one"), { role: "assistant", content: answer.content.slice(1) }],
    };
    expect(found([second, { ...without, messages: [...without.messages, user("two")] }])).toEqual([]);
  });

  it("finds a changed system prompt, its cost, and the reasoning after it", () => {
    const problems = checkTranscript([first, { ...second, system: "Be kind." }], "anthropic");
    expect(problems.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "requests[1].system broken_prefix",
      "requests[1].messages[1].content[0] stale_reasoning",
    ]);
    expect(problems[0]!.message).toMatch(/^is not what .* about \d+ tokens are read again/);
  });

  it("finds changed tools, another model, and a changed message with only what follows it", () => {
    expect(found([first, { ...second, tools: [] }])[0]).toBe("requests[1].tools broken_prefix");
    expect(found([second, { ...second, model: "claude-opus-5-5" }])).toEqual([
      "requests[1].model broken_prefix",
    ]);
    const messages = [user("one"), answer, user("2"), answer, user("three")];
    expect(found([second, { ...second, messages }])).toEqual([
      "requests[1].messages[2] broken_prefix",
      "requests[1].messages[3].content[0] stale_reasoning",
    ]);
  });

  it("finds messages that are gone", () => {
    expect(found([second, first])).toEqual(["requests[1].messages[1] broken_prefix"]);
  });

  it("reads the instructions and items of Responses, and passes over requests with an earlier response's id", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };
    const one = { model: "gpt-6.2-sol", instructions: "Be brief.", input: "one" };
    const items = [user("one"), reasoning, { role: "assistant", content: "One." }, user("two")];
    expect(found([one, { ...one, input: items }], "openai-responses")).toEqual([]);
    expect(found([one, { ...one, instructions: "Be kind.", input: items }], "openai-responses")).toEqual([
      "requests[1].instructions broken_prefix",
      "requests[1].input[1] stale_reasoning",
    ]);
    expect(
      found([one, { ...one, input: "two", previous_response_id: "resp_1" }], "openai-responses"),
    ).toEqual([]);
  });

  it("passes over requests that continue a message thread", () => {
    const thread = { type: "continue", previous_message_id: "msg_1" };
    const next = { model: first.model, messages: [user("three")], thread };
    expect(found([{ ...first, thread: { type: "create" } }, next, { ...next }])).toEqual([]);
    expect(found([first, { ...next, thread: undefined }])).not.toEqual([]);
  });

  it("refuses a body without messages, and does not repair bodies", () => {
    expect(() => checkTranscript([first, { model: "x" }], "anthropic")).toThrow(/requests\[1\]\.messages/);
    expect(() => repairTranscript([first], "anthropic")).toThrow(/only be checked/);
  });
});

const wire = join(process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../shared"), "wire");
const folders = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses",
};
if (!existsSync(wire)) console.warn(`SKIPPED recorded prefixes: no ${wire} (set LOOPLET_SHARED)`);

describe.skipIf(!existsSync(wire)).each(Object.entries(folders))("recordings of %s", (folder, protocol) => {
  const read = (file: string): any => JSON.parse(readFileSync(join(wire, folder, file), "utf8"));

  it("have no broken prefix where the recorder's own comparison says that requests only append", () => {
    let compared = 0;
    for (const file of readdirSync(join(wire, folder)).filter((name) =>
      name.endsWith(".conversation.json"),
    )) {
      const { steps, chains, links } = read(file);
      for (const { steps: chain } of chains as { steps: number[] }[]) {
        const linked = chain.every(
          (step, at) =>
            at === 0 || links.some((link: any) => link.to === step && link.appends_only && link.same_params),
        );
        if (!linked || chain.length < 2) continue;
        const bodyOf = (step: number): string =>
          steps.find(({ index }: any) => index === step).request.body_file;
        // A chain over two vendors has bodies of both.
        if (!chain.every((step) => bodyOf(step).startsWith(`${folder}/`))) continue;
        const bodies = chain.map((step) => read(bodyOf(step).split("/").at(-1)!));
        expect({ file, found: found(bodies, protocol as TranscriptProtocol) }).toEqual({ file, found: [] });
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(0);
  });
});
