// What the program `looplet` shows of a value before someone decides about it, and of a recorded run.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { anthropic, createAgent, tool } from "looplet";
import { scripted } from "looplet/practice";
import { recorder } from "looplet/replay";
import { program } from "../../../src/cli/program.js";
import { whole } from "../../../src/cli/words.js";
import { starredShapes } from "../../../src/typescript/lab/replay/secret-shapes.js";

async function printed(...args: string[]): Promise<string> {
  let out = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
  try {
    expect(await program(args)).toBe(0);
  } finally {
    spy.mockRestore();
  }
  return out;
}

const recorded = fileURLToPath(new URL("../../fixtures/loop/wasm.loop", import.meta.url));

it(
  "inspect lists the requests that break the prefix, what changed and what that costs",
  { timeout: 60_000 },
  async () => {
    const call = { toolCalls: [{ name: "look", input: {} }] };
    const look = tool({
      description: "Looks",
      inputSchema: { type: "object" },
      execute: () => "x".repeat(700),
    });
    const agent = createAgent({
      model: anthropic("claude-sonnet-4-6", {
        apiKey: "k",
        fetch: scripted([call, call, { text: "Done." }]),
      }),
      system: "Be brief.",
      tools: { look },
      record: recorder(),
      prepareIteration: ({ iteration }) => (iteration === 3 ? { system: "End." } : undefined),
    });
    const run = agent.run("Go");
    await run.result;
    const folder = mkdtempSync(join(tmpdir(), "looplet-inspect-"));
    const file = join(folder, "run.loop");
    writeFileSync(file, run.export());
    const text = await printed("inspect", file);
    const { prefixBreaks } = JSON.parse(await printed("inspect", "--json", file));
    rmSync(folder, { recursive: true });
    expect(text).toMatch(/^Prefix breaks: 1 request, with about (\d+) tokens after the breaks$/m);
    expect(text).toMatch(/^root +3 +the system prompt +\d +\d{3} +prepareIteration$/m);
    const at = { agent: "root", iteration: 3, attempt: 1 };
    expect(prefixBreaks).toMatchObject([{ ...at, changed: "the system prompt", cause: "prepareIteration" }]);
    const [{ newTokens, sharedTokens }] = prefixBreaks;
    expect(text).toContain(`about ${newTokens} tokens`);
    expect(sharedTokens).toBe(
      Math.floor((JSON.stringify({ type: "object" }).length + "lookLooks".length) * (2 / 7)),
    );
    expect(await printed("inspect", recorded)).not.toContain("Prefix breaks");
  },
);

it("an input is shown whole, with every character that a terminal would hide or obey", () => {
  const input = { note: "x".repeat(5000), to: "EVE" };
  expect(JSON.parse(whole(input))).toEqual(input);
  const hidden = "\u202eabc\u200b\u0007\u001b[2K\r\n\u{e0041}\u00ad\u2066";
  const shown = whole({ hidden });
  expect(shown).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(shown)).toEqual({ hidden });
});

it("an input is shown with each invisible letter that Unicode has", () => {
  const points = [
    0x85, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e, 0x2000, 0x200d, 0x2028, 0x2060, 0x2800,
  ];
  const more = [
    0x3000, 0x3164, 0xd800, 0xe000, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1bca0, 0x1d173, 0x13430, 0xe0100,
  ];
  const hidden = String.fromCodePoint(...points, ...more);
  expect(whole({ hidden })).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(whole({ hidden }))).toEqual({ hidden });
  const plain = "Grüße, 你好, שלום, नमस्ते 🦊 e\u0301";
  expect(whole(plain)).toBe(JSON.stringify(plain));
});

it("inspect --text prints the prompts, answers, inputs and results", { timeout: 60_000 }, async () => {
  const text = await printed("inspect", "--text", recorded);
  expect(text).toMatch(/^user: /);
  expect(text).toMatch(/^assistant: /m);
});

it.each([
  ["cfut_" + "aB3".repeat(13) + "xdeadbeef"],
  ["cfat_" + "aB3".repeat(13) + "xdeadbeef"],
  ["cfk_" + "aB3".repeat(13) + "xdeadbeef"],
  ["Ab3_".repeat(9) + "Ab-3"],
  ["110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw_"],
  ["7110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawA"],
])("the token %s is starred, also in an address", (token) => {
  expect(starredShapes(`It is ${token}.`)).not.toContain(token.slice(8, 24));
  if (token.includes(":")) {
    const address = `https://api.telegram.org/bot${token}/getMe`;
    expect(starredShapes(address)).not.toContain(token.slice(12, 24));
  }
});
