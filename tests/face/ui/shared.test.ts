// A conversation that several pages show, whose agent is in a worker.
import { describe, expect, it } from "vitest";
import type { RemoteAgent } from "looplet/workers";
import type { OpenQuestion } from "looplet/ui";
import { Kit, Place } from "../support/worker-kit.js";
import { lines, Screen } from "./kit.js";

type Approval = OpenQuestion & { kind: "permission" };

/** A worker, and pages that show a chat of its agent. */
function served(): { kit: Kit; place: Place; page: () => Screen } {
  const kit = new Kit();
  const place = new Place();
  place.serve(kit.agent(), { store: kit.store });
  return { kit, place, page: () => new Screen(place.connect() as RemoteAgent, { id: "a" }) };
}

const paid = ["user: Pay.", 'assistant: pay output-available "paid" | one two three'];

describe("a conversation with an agent in a worker", () => {
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
    expect(kit.effects).toHaveLength(1);
  });

  it("goes on when the worker is lost", async () => {
    const { kit, place, page } = served();
    kit.live();
    const mine = page();
    await mine.rest();
    await mine.conversation.send("Pay.");
    await mine.until(({ status }) => status === "waiting");
    place.kill();
    kit.live();
    place.serve(kit.agent(), { store: kit.store });
    const { questions } = await mine.until(({ status }) => status === "waiting");
    mine.conversation.answer(questions[0] as Approval, { behavior: "allow" });
    await kit.effect();
    kit.go();
    expect(lines((await mine.rest()).messages)).toEqual(paid);
    expect(kit.effects).toHaveLength(1);
  });
});
