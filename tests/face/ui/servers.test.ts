/** A conversation on a screen, with the agent on a server. */
import { expect, it, vi } from "vitest";
import { conversation } from "looplet/ui";
import { Server } from "../support/server-kit.js";

it("sends, asks, shows an approval after a reload, and takes a message back", async () => {
  const server = new Server();
  const first = conversation(server.page(), { id: "a" });
  await first.send("Hi.");
  await vi.waitFor(() => expect(first.getSnapshot()).toMatchObject({ status: "ready" }));
  expect(first.getSnapshot().messages).toHaveLength(2);
  await first.send("Pay.");
  await vi.waitFor(() => expect(first.getSnapshot().questions).toHaveLength(1));

  const again = conversation(server.page(), { id: "a" });
  again.subscribe(() => {});
  await vi.waitFor(() => expect(again.getSnapshot().questions).toHaveLength(1));
  again.answer(again.getSnapshot().questions[0] as never, { behavior: "deny", message: "no" } as never);
  for (const screen of [first, again])
    await vi.waitFor(() => expect(screen.getSnapshot()).toMatchObject({ status: "ready", questions: [] }));
  await again.regenerate();
  await vi.waitFor(() => expect(again.getSnapshot().questions).toHaveLength(1));
  again.stop();
  await vi.waitFor(() => expect(again.getSnapshot().questions).toEqual([]));
  expect(server.kit.effects).toEqual([]);
});
