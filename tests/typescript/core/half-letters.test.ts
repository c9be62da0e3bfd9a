/**
 * Halves of letters: a text that was cut within one, or that a model has written so. A decision that quotes such a
 * text, or what is no text, is heard all the same.
 */
import { describe, expect, it } from "vitest";
import { createAgent, custom, type AgentOptions, type Message } from "looplet";
import { recorder, replay } from "looplet/replay";
import { wholeLetters } from "../../../src/typescript/core/host/instance.js";

const HALF = "x\ud800y";

interface Asked {
  ran: unknown[];
  text: string;
  outcome: string;
  messages: string;
}

async function ask(options: Partial<AgentOptions>, prompt = "Hi"): Promise<Asked> {
  const ran: unknown[] = [];
  const agent = createAgent({
    model: custom(({ messages }) =>
      messages.length > 1 ? "End." : [{ type: "tool_call", id: "t", name: "erase", input: { path: HALF } }],
    ),
    tools: {
      erase: {
        description: "Erases.",
        inputSchema: { type: "object" },
        execute: (input: unknown) => void ran.push(input),
      },
    },
    ...options,
  } as AgentOptions);
  const { outcome, text, messages } = await agent.run(prompt).result;
  return { ran, outcome, text, messages: JSON.stringify(messages) };
}

const quoting = ({ input }: any): string => `${(input as { path: string }).path} is not yours.`;

describe("a decision that quotes half of a letter", () => {
  it("of a hook denies the call", async () => {
    const hook = (call: any) => ({ decision: "deny", reason: quoting(call) });
    const { ran, messages } = await ask({ hooks: { PreToolUse: [{ hooks: [hook] }] } } as never);
    expect(ran).toEqual([]);
    expect(messages).toContain("x\ufffdy is not yours.");
  });

  it("of a hook denies the call, also if the model has written no text there, or another field is wrong", async () => {
    for (const more of [
      { reason: 5 },
      { reason: null },
      { reason: {} },
      { reasn: "x" },
      { additionalContext: 5 },
    ]) {
      const hook = () => ({ decision: "deny", ...more });
      const { ran, messages } = await ask({ hooks: { PreToolUse: [{ hooks: [hook] }] } } as never);
      expect(ran, JSON.stringify(more)).toEqual([]);
      expect(messages).toContain("its answer is not valid");
    }
    const allowed = await ask({
      hooks: { PreToolUse: [{ hooks: [() => ({ decision: "allow", reason: 5 })] }] },
    } as never);
    expect(allowed.ran).toHaveLength(1);
    const blocks = { UserPromptSubmit: [{ hooks: [() => ({ decision: "block", reason: 5 })] }] };
    expect((await ask({ hooks: blocks } as never)).outcome).toBe("stopped");
  });

  it("of a hook denies the call with context for the model", async () => {
    const hook = () => ({ decision: "deny", additionalContext: HALF });
    expect((await ask({ hooks: { PreToolUse: [{ hooks: [hook] }] } } as never)).ran).toEqual([]);
  });

  it("of a hook blocks the prompt", async () => {
    const hook = () => ({ decision: "block", reason: HALF });
    const { ran, outcome } = await ask({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } } as never);
    expect([ran, outcome]).toEqual([[], "stopped"]);
  });

  it("of canUseTool and of a guardrail reaches the model in its words", async () => {
    const denied = await ask({ permissions: { canUseTool: () => ({ behavior: "deny", message: HALF }) } });
    const guarded = await ask({ guardrails: { tool: () => ({ allowed: false, reason: HALF }) } });
    for (const { ran, messages } of [denied, guarded]) {
      expect(ran).toEqual([]);
      expect(messages).toContain("x\ufffdy");
    }
  });
});

describe("half of a letter", () => {
  it("in a prompt, a system prompt, a history and a steer is one letter for the model", async () => {
    const seen: string[] = [];
    const model = custom(({ system, messages }) => {
      seen.push(system ?? "", JSON.stringify(messages));
      return "End.";
    });
    const agent = createAgent({ model, system: HALF, record: recorder() });
    const messages = [
      { role: "user", content: [{ type: "text", text: HALF }] },
      { role: "assistant", content: [{ type: "text", text: HALF }] },
    ] satisfies Message[];
    const run = agent.run(HALF, { messages });
    run.steer(HALF);
    expect((await run.result).outcome).toBe("completed");
    expect(seen[0]).toBe("x\ufffdy");
    expect(seen[1]!.split("x\ufffdy")).toHaveLength(5);
    // A file of the run has what the engine got.
    expect((await replay(run.export())).lost).toBeFalsy();
  });

  it("is found among the escapes of JSON, and nothing else is changed", () => {
    const whole = ["🦊", "\\ud800", "\\\\ud800", "\\u0000 é \u2028", '"\n\t\b', "😀\\"];
    for (const text of whole) expect(wholeLetters(JSON.stringify(text))).toBe(JSON.stringify(text));
    expect(wholeLetters('"\\ud83d\\ude00\\uD83D\\uDE00"')).toBe('"\\ud83d\\ude00\\uD83D\\uDE00"');
    for (const half of ["\ud800", "\udc00", "\udc00\ud800", "\\\ud800", "a\ud83d🦊\ude00"])
      expect(JSON.parse(wholeLetters(JSON.stringify(half)))).toBe(half.replace(/\p{Surrogate}/gu, "\ufffd"));
  });
});
