// A run that has ended, and whose end the store does not have yet: who uses its journal next, in the same process,
// waits for it.
import { describe, expect, it } from "vitest";
import { createAgent, custom, type Agent, type Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { nextTask } from "../support/fake-driver.js";

describe("a journal whose run has ended a moment ago", () => {
  /** A store that has each write a moment later. */
  function slowStore(): Store {
    const store = memoryStore();
    return {
      ...store,
      async append(...given) {
        await nextTask();
        await store.append(...given);
      },
      lease: async (key, options) => {
        const lease = await store.lease(key, options);
        return lease && { ...lease, release: (isPending) => nextTask().then(() => lease.release(isPending)) };
      },
    };
  }

  /** An agent of this process that says what it was asked. */
  const agentOn = (store: Store): Agent =>
    createAgent({
      model: custom(({ messages }) => {
        const [block] = messages.at(-1)!.content;
        return `Done: ${block?.type === "text" ? block.text : ""}`;
      }),
      store,
    });

  it("is a chat that any agent of the process opens at once", async () => {
    const store = slowStore();
    for (const prompt of ["First", "Second", "Third"]) {
      const chat = await agentOn(store).openChat("c");
      const { outcome, text } = await chat.run(prompt).result;
      expect([outcome, text]).toEqual(["completed", `Done: ${prompt}`]);
      chat.close();
      const read = await agentOn(store).readChat("c");
      expect([read?.isRunning, read?.messages.at(-1)?.role]).toEqual([false, "assistant"]);
    }
    const chat = await agentOn(store).openChat("c");
    expect(chat.messages).toHaveLength(6);
    expect(chat.current).toBeUndefined();
  });

  it("is a run that ends again as it has, also one that was aborted", async () => {
    const store = slowStore();
    const agent = agentOn(store);
    await agent.run("Go", { id: "done" }).result;
    const again = await agentOn(store).run("Go", { id: "done" }).result;
    expect([again.outcome, again.text]).toEqual(["completed", "Done: Go"]);
    const silent = createAgent({ model: custom(() => new Promise<never>(() => {})), store });
    const run = silent.run("Go", { id: "stopped" });
    await run.saved();
    run.abort("enough");
    await run.result;
    const resumed = await agentOn(store).run("Go", { id: "stopped" }).result;
    expect([resumed.outcome, resumed.abortReason]).toEqual(["cancelled", "enough"]);
  });
});
