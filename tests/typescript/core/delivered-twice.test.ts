import { describe, expect, it } from "vitest";
import { createAgent, custom, tool } from "looplet";
import type { Agent, AgentOptions } from "looplet";
import { memoryStore } from "looplet/stores";
import { settled } from "../support/virtual-clock.js";

/** A process whose tool needs an approval, and whose model says which user texts it has got. */
function process(store: AgentOptions["store"]): Agent {
  return createAgent({
    model: custom(({ messages }) => {
      const answered = messages.filter(({ role }) => role === "assistant").length;
      if (answered === 0) return [{ type: "tool_call", id: "a", name: "act", input: {} }];
      const said = messages.filter(({ role }) => role === "user").flatMap(({ content }) => content);
      return said.map((block) => (block.type === "text" ? block.text : "result")).join(", ");
    }),
    tools: {
      act: tool({
        description: "Acts",
        inputSchema: { type: "object" },
        needsApproval: true,
        execute: () => "acted",
      }),
    },
    permissions: { canUseTool: () => null },
    store,
  });
}

describe("what is delivered twice", () => {
  it("is one steer, also in another process and before it has begun", async () => {
    const store = memoryStore();
    const first = process(store).run("Act.", { id: "x" });
    const queued = first.steer("Be brief.", { requestId: "r1" });
    expect(first.steer("Be brief.", { requestId: "r1" })).toBe(queued);
    await settled();
    expect(first.steer("Be brief.", { requestId: "r1" })).toBe(queued);
    await first.saved();
    const second = process(store).resume("x", { takeOver: true });
    second.steer("Be brief.", { requestId: "r1" });
    second.followUp("And?", { requestId: "r2" });
    for await (const event of second)
      if (event.type === "question") {
        second.followUp("And?", { requestId: "r2" });
        second.steer("Be brief.", { requestId: "r1" });
        expect(second.answer(event.questionId, { behavior: "allow" })).toBe(true);
      }
    const { messages, text } = await second.result;
    const texts = messages.map(({ content }) => content.map((block) => ("text" in block ? block.text : "")));
    expect(texts.flat().filter((said) => said === "Be brief.")).toHaveLength(1);
    expect(texts.flat().filter((said) => said === "And?")).toHaveLength(1);
    expect(text).toContain("And?");
    first.abort();
  });

  it("is the same message after the end of the run, where another one is a mistake", async () => {
    const run = process(undefined).run("Act.");
    const queued = run.steer("Be brief.", { requestId: "r1" });
    await settled();
    run.abort();
    await run.result;
    expect(run.steer("Be brief.", { requestId: "r1" })).toBe(queued);
    const ended = expect.objectContaining({ code: "misuse_run_ended" });
    expect(() => run.steer("Be brief.", { requestId: "r2" })).toThrow(ended);
    expect(() => run.steer("Be brief.")).toThrow(ended);
    const wrong = expect.objectContaining({ code: "config_wrong_type", field: "steer.requestId" });
    expect(() => run.steer("Be brief.", { requestId: 5 as never })).toThrow(wrong);
  });

  it("is one answer, in whatever process it comes again", async () => {
    const store = memoryStore();
    const first = process(store).run("Act.", { id: "x" });
    let questionId = 0;
    for await (const event of first.events({ detached: true }))
      if (event.type === "question") {
        ({ questionId } = event);
        break;
      }
    expect(first.answer(questionId, { behavior: "deny", message: "No." })).toBe(true);
    expect(first.answer(questionId, { behavior: "deny", message: "No." })).toBe(true);
    expect(first.answer(questionId, { behavior: "allow" })).toBe(false);
    await first.result;
    await first.saved();
    expect(first.answer(questionId, { behavior: "deny", message: "No." })).toBe(false);
  });
});
