// Recorded runs under this version of looplet, against the requests that another one made.
import { expect, it } from "vitest";
import { anthropic, createAgent } from "looplet";
import { compare, textReport } from "looplet/compare";
import { scripted } from "looplet/practice";
import { recorder } from "looplet/replay";
import { withExpectations } from "looplet/testing";

async function recorded(): Promise<string> {
  const model = anthropic("m", { fetch: scripted([{ text: "It rains." }]) });
  const run = createAgent({ model, record: recorder(), system: "Be brief." }).run("Umbrella?");
  await run.result;
  return run.export();
}

it("says that nothing differs, and what does", async () => {
  const expected = await withExpectations(await recorded());
  const older = expected.replace('\\"max_tokens\\":8192', '\\"max_tokens\\":4096');
  expect(older).not.toBe(expected);
  const words = expected.replace('"text":"It rains."}}', '"text":"It is dry."}}');
  expect(words).not.toBe(expected);
  const report = await compare([
    { name: "same", text: expected },
    { name: "older", text: older },
    { name: "words", text: words },
    { name: "bare", text: await recorded() },
    { name: "torn", text: expected.slice(0, 99) },
  ]);
  expect(report.runs.map(({ name, verdict }) => `${name}: ${verdict}`)).toEqual([
    "same: equal",
    "older: another request",
    "words: other words",
    "bare: stopped",
    "torn: failed",
  ]);
  const [, second, , bare] = report.runs;
  expect(second!.firstDifference).toMatchObject({ number: 1, parts: ["option `max_tokens`"] });
  expect(second!.firstDifference!.diff).toContain("4096");
  expect(bare!.why).toContain("withExpectations(file)");
  expect(textReport(report)).toContain("option `max_tokens`");
});

it("needs an agent for what an agent does", async () => {
  const text = await recorded();
  for (const options of [
    { tools: "run" },
    { hooks: "run" },
    { live: { maxUsd: 1 } },
    { judges: {} },
  ] as const)
    await expect(compare([text], undefined, options)).rejects.toThrow("needs an agent as the change");
});
