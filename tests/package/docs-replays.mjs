// What the examples about recorded runs must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const replays = {
  "send-us-the-run/report.ts": {
    before({ answer }) {
      globalThis.location = new URL("https://page.test/");
      answer({ text: "Your card is 1234 5678.", dropAfterEvents: 4 }, ...Array(9).fill({ status: 400 }));
    },
    async after({ made }) {
      await import("looplet");
      const { expectReplay } = await import("looplet/testing");
      const files = [];
      await made.answer("My card is 1234 5678.", (file) => files.push(file));
      delete globalThis.location;
      assert.equal(files.length, 1);
      assert.match(files[0], /^\{"loop":1,[^]*My card is \*{4} \*{4}\./);
      const { steps, at } = await expectReplay(files[0]);
      assert.equal(at(steps.length - 1).outcome, "failed");
    },
  },
  "send-us-the-run-1": {
    before: ({ answer }) => answer({ text: "Hello you." }, { text: "Hi." }),
    after({ made, output }) {
      assert.equal(output[0], "https://api.anthropic.com/v1/messages 1\n");
      assert.match(output[1], /Hi\./);
      assert.equal(made.asked > 0, true);
    },
  },
  "send-us-the-run/bug.test.ts": {
    isTest: true,
    async before({ looplet: { anthropic, createAgent }, practice: { scripted }, folder }) {
      const { recorder } = await import("looplet/replay");
      await import("looplet");
      const { withExpectations } = await import("looplet/testing");
      const model = anthropic("test", { fetch: scripted([{ text: "Hi" }]) });
      const run = createAgent({ model, record: recorder() }).run("Hello");
      await run.result;
      await writeFile(join(folder, "bug.loop"), await withExpectations(run.export()));
    },
  },
  "testing/prompt.test.ts": { isTest: true },
};
