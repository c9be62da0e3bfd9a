// Files of strangers who mean harm, before the program `looplet`: a line and the exit code 2 for those that no run
// has written, and nothing that a terminal takes as a command, or a person as a line of the program.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { program } from "../../../src/cli/program.js";
import { hostileFiles } from "../support/hostile-files.js";
import { COMMANDS, FORGED } from "../support/loop-readers.js";

const { told: _, ...recorded } = JSON.parse(
  await readFile(new URL("../../fixtures/loop/wasm.loop", import.meta.url), "utf8"),
) as { told: unknown };
const FILES = hostileFiles(JSON.stringify(recorded));
const agent = ["--agent", fileURLToPath(new URL("../support/agent-file.ts", import.meta.url))];

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "looplet-hostile-"))));
afterAll(() => rm(folder, { recursive: true }));

/** Calls the program in this process. */
async function call(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const told = { out: "", err: "" };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((text) => ((told.out += String(text)), true)),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => ((told.err += String(text)), true)),
  ];
  try {
    return { code: await program(args), ...told };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

it.each(FILES)("a file with $name is $fate", { timeout: 60_000 }, async ({ text, fate }) => {
  const path = join(folder, "run.loop");
  const reports = ["--junit", join(folder, "report.xml"), "--markdown", join(folder, "report.md")];
  const calls = [
    ["inspect", path],
    ["inspect", path, "--json"],
    ["replay", path],
    ["replay", path, ...agent, "--tools"],
    ["step", path, "--at", "1"],
    ["fork", path, "--at", "2", ...agent],
    ["test", path, "--expect"],
    ["compare", path, ...agent, ...reports],
    ["verify", path, ...agent, "--approved", "*", "--tools", "read", "--max-usd", "1"],
  ];
  for (const args of calls) {
    await writeFile(path, text);
    const { code, out, err } = await call(args);
    const words = `${args.join(" ")}: ${code}\n${out.slice(0, 2000)}\n${err.slice(0, 2000)}`;
    expect(COMMANDS.test(out + err), words).toBe(false);
    expect(FORGED.test(out + err), words).toBe(false);
    // A comparison tells of files that cannot be played in its report.
    if (args[0] === "compare") expect(out, words).toContain(fate === "refused" ? "1 failed" : "Of 1 run");
    else if (fate === "played") expect([0, 1], words).toContain(code);
    else {
      expect([code, out], words).toEqual([2, ""]);
      expect(err, words).toMatch(/^looplet \w+: [^\n]{1,700}\n$/);
    }
  }
});
