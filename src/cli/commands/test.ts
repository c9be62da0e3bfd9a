/** `looplet test`: writes the test that plays a file. */
import { dirname, relative, sep } from "node:path";
import { replay, testFile } from "../../typescript/lab/replay/index.js";
import { withExpectations } from "../../typescript/lab/testing/index.js";
import type { Command } from "../command.js";
import { textFile, written } from "../files.js";
import { terminal } from "../terminal.js";

export const test: Command = {
  about: "write a test that replays it",
  arguments: ["RUN.loop"],
  help:
    "The test fails when the run ends in another way; with --expect also when a new\n" +
    "version of looplet makes another request. Without --out it goes to standard\n" +
    "output.",
  options: {
    out: { type: "string", value: "FILE", about: "write the test into this file, as bug.test.mjs" },
    expect: { type: "boolean", about: "add requests, outcome and text to RUN.loop itself" },
  },
  json: "print { code } as JSON",
  async run([path], { out, expect, json }) {
    const text = await textFile(path!);
    await import("looplet");
    await replay(text);
    if (expect === true) await written(path!, await withExpectations(text));
    const folder = typeof out === "string" ? dirname(out) : dirname(path!);
    const code = testFile(relative(folder, path!).split(sep).join("/"));
    if (typeof out === "string") {
      await written(out, code);
      terminal.note(`written: ${out}`);
    } else if (json !== true) terminal.write(code);
    if (json === true) terminal.print(JSON.stringify({ code }));
    return 0;
  },
};
