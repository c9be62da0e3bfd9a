// Jest runs tests of a stranger on the package, with the configuration that the documentation gives.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { examples } from "./docs-examples.mjs";
import { installPacked, run } from "./install.mjs";

const jest = process.env.LOOPLET_JEST;
const node = process.env.LOOPLET_NODE || process.execPath;
const { code: config } = examples.find(({ name }) => name === "testing/jest.config.js");
let installed;

before(async () => (installed = await installPacked()));
after(() => installed?.remove());

const runsTenLines = `
import { tenLines } from "../ten-lines.mjs";
test("a run completes", async () => expect(await tenLines()).toMatch(/completed with 1 tool call/));
`;

/** A run is recorded, and its file is a test that fails when the prompt changes. */
const replaysARun = `
import { anthropic, createAgent } from "looplet";
import { scripted } from "looplet/practice";
import { recorder } from "looplet/replay";
import { expectReplay, withExpectations } from "looplet/testing";
const fetch = scripted([{ text: "Hello." }]);
const agentOf = (system) =>
  createAgent({ model: anthropic("test", { apiKey: "k", fetch }), system, record: recorder() });
test("a recorded run is a test", async () => {
  const agent = agentOf("Be brief.");
  const run = agent.run("Hi");
  await run.result;
  const file = await withExpectations(run.export());
  const { requests } = await expectReplay(file, { agent });
  expect(requests).toHaveLength(1);
  const changed = expectReplay(file, { agent: agentOf("Be long.") });
  await expect(changed).rejects.toThrow(/^Request 1 differs in its body, at character/);
});
`;

test("Jest runs it", { skip: !jest && "no Jest" }, async () => {
  const folder = join(installed.folder, "jest");
  mkdirSync(folder);
  writeFileSync(join(folder, "jest.config.js"), config);
  writeFileSync(join(folder, "agent.test.js"), runsTenLines);
  writeFileSync(join(folder, "replay.test.js"), replaysARun);
  const args = ["--experimental-vm-modules", join(jest, "jest/bin/jest.js"), "--rootDir", folder];
  await run(node, args, folder);
});
