// A conversation that several pages show, whose agent is in a worker or on a server.
import { describe, expect, it } from "vitest";
import type { OpenQuestion } from "looplet/ui";
import { Server } from "../support/server-kit.js";
import { Kit, Place } from "../support/worker-kit.js";
import { lines, Screen } from "./kit.js";

type Approval = OpenQuestion & { kind: "permission" };

/** Where the agent is: its world, pages that show a chat of it, and another process in its place. */
interface Served {
  readonly kit: Kit;
  page(): Screen;
  restart(): void;
}

function inWorker(): Served {
  const kit = new Kit();
  const place = new Place();
  kit.live();
  place.serve(kit.agent(), { store: kit.store });
  const restart = (): void => {
    place.kill();
    kit.live();
    place.serve(kit.agent(), { store: kit.store });
  };
  return { kit, page: () => new Screen(place.connect(), { id: "a" }), restart };
}

function onServer(): Served {
  const server = new Server();
  server.restart();
  return {
    kit: server.kit,
    page: () => new Screen(server.page(), { id: "a" }),
    restart: () => server.restart(),
  };
}

const paid = ["user: Pay.", 'assistant: pay output-available "paid" | one two three'];

describe.each([
  ["in a worker", inWorker],
  ["on a server", onServer],
])("a conversation with an agent %s", (_, served) => {
  it("is shown by every page, and each may answer", async () => {
    const { kit, page } = served();
    const [mine, theirs] = [page(), page()];
    await Promise.all([mine.rest(), theirs.rest()]);
    await mine.conversation.send("Pay.");
    const waiting = await theirs.until(({ status }) => status === "waiting");
    expect(lines(waiting.messages)).toEqual(["user: Pay.", "assistant: pay approval-requested"]);
    theirs.conversation.answer(waiting.questions[0] as Approval, { behavior: "allow" });
    await kit.effect();
    kit.go();
    expect(lines((await mine.rest()).messages)).toEqual(paid);
    expect(lines((await theirs.rest()).messages)).toEqual(paid);
    expect(theirs.now.messages).toEqual(mine.now.messages);
    await theirs.conversation.send("Hi.");
    await mine.until(({ messages }) => messages.length === 4);
    expect(lines((await mine.rest()).messages).slice(2)).toEqual(["user: Hi.", "assistant: one two three"]);
  });

  it("is stopped by another page than the one that began the run", async () => {
    const { page } = served();
    const [mine, theirs] = [page(), page()];
    await Promise.all([mine.rest(), theirs.rest()]);
    await mine.conversation.send("Pay.");
    await theirs.until(({ status }) => status === "waiting");
    theirs.conversation.stop();
    expect(await mine.rest()).toMatchObject({ outcome: "cancelled", reason: "stopped by the user" });
    expect(lines(mine.now.messages).at(-1)).toMatch(/^assistant: pay output-error not_run$/);
  });

  it("is shown by a page that opens in the middle as by one that was there all the time", async () => {
    const { kit, page } = served();
    const mine = page();
    await mine.rest();
    await mine.conversation.send("Pay.");
    const before = await mine.until(({ status }) => status === "waiting");
    const late = page();
    const after = await late.until(({ status }) => status === "waiting");
    expect(after.messages).toEqual(before.messages);
    expect(after.questions).toEqual(before.questions);
    late.conversation.answer(after.questions[0] as Approval, { behavior: "allow" });
    await kit.effect();
    kit.go();
    expect((await late.rest()).messages).toEqual((await mine.rest()).messages);
    expect(late.now.usage).toMatchObject({ outputTokens: 3 });
    expect(kit.effects).toHaveLength(1);
  });

  it("goes on when the process of the agent is lost", async () => {
    const { kit, page, restart } = served();
    const mine = page();
    await mine.rest();
    await mine.conversation.send("Pay.");
    await mine.until(({ status }) => status === "waiting");
    restart();
    const { questions } = await mine.until(({ status }) => status === "waiting");
    mine.conversation.answer(questions[0] as Approval, { behavior: "allow" });
    await kit.effect();
    kit.go();
    expect(lines((await mine.rest()).messages)).toEqual(paid);
    expect(kit.effects).toHaveLength(1);
  });

  it("goes back to a message that is edited", async () => {
    const { page } = served();
    const mine = page();
    await mine.rest();
    await mine.conversation.send("Hi.");
    await mine.rest();
    await mine.conversation.edit("m1", "Hello.");
    expect(lines((await mine.rest()).messages)).toEqual(["user: Hello.", "assistant: one two three"]);
    expect(mine.now.messages[0]!.branch).toEqual({ number: 2, count: 2 });
    expect(await mine.conversation.select("m1", 1)).toBe(true);
    await mine.rest();
    expect(lines(mine.now.messages)[0]).toBe("user: Hi.");
  });
});
