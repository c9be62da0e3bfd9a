import { afterEach, describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";

const model = () => {
  const fetch = scripted([{ toolCalls: [{ name: "act", input: {} }] }, { text: "Done." }]);
  return anthropic("claude", { apiKey: "k", fetch });
};
const act = tool({ description: "Acts", inputSchema: { type: "object" }, execute: () => "done" });
const bypass = { permissions: { mode: "bypassPermissions", allowDangerouslySkipPermissions: true } } as const;
const refused = expect.objectContaining({
  code: "config_invalid_value",
  message: expect.stringMatching(/refused for root.*another user.*IS_SANDBOX=1/),
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function as(uid: number, sandbox?: string): void {
  vi.spyOn(process, "getuid").mockReturnValue(uid);
  vi.stubEnv("IS_SANDBOX", sandbox);
}

describe("S001-27: the mode bypassPermissions in Node", () => {
  it("is refused for root", () => {
    as(0);
    expect(() => createAgent({ model: model(), tools: { act }, ...bypass })).toThrow(refused);
  });

  it.each([
    ["another user", 1000, undefined],
    ["root in a sandbox", 0, "1"],
  ])("is granted to %s", (_, uid, sandbox) => {
    as(uid, sandbox);
    expect(() => createAgent({ model: model(), tools: { act }, ...bypass })).not.toThrow();
  });

  it("is granted where there are no users, as on Windows", () => {
    as(0);
    const { getuid } = process;
    process.getuid = undefined as never;
    try {
      expect(() => createAgent({ model: model(), tools: { act }, ...bypass })).not.toThrow();
    } finally {
      process.getuid = getuid;
    }
  });

  it("cannot be switched to by root later either", async () => {
    as(0);
    const agent = createAgent({
      model: model(),
      tools: { act },
      permissions: { allowDangerouslySkipPermissions: true, canUseTool: () => null },
    });
    const run = agent.run("Go");
    for await (const event of run) {
      if (event.type !== "question") continue;
      expect(() => run.setPermissionMode("bypassPermissions")).toThrow(refused);
      const updatedPermissions = [{ type: "setMode", mode: "bypassPermissions" }] as const;
      const answer = { behavior: "allow", updatedPermissions: [...updatedPermissions] } as const;
      expect(() => run.answer(event.questionId, answer)).toThrow(refused);
      run.answer(event.questionId, { behavior: "allow" });
    }
  });

  it("leaves an agent without permissions alone, whose tools run anyway", async () => {
    as(0);
    const { outcome } = await createAgent({ model: model(), tools: { act } }).run("Go").result;
    expect(outcome).toBe("completed");
  });
});
