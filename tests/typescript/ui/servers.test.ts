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

it("shows the versions of an edited message", async () => {
  const server = new Server();
  const chat = conversation(server.page(), { id: "a" });
  const texts = (): unknown => chat.getSnapshot().messages.map(({ parts }) => Object(parts[0]).text);
  const isReady = (): Promise<void> =>
    vi.waitFor(() => expect(chat.getSnapshot()).toMatchObject({ status: "ready", error: undefined }));
  await chat.send("Hi.");
  await isReady();
  await chat.edit("m1", "Hello.");
  await isReady();
  expect(texts()).toEqual(["Hello.", "one two three"]);
  expect(await chat.select("m1", 1)).toBe(true);
  expect(texts()).toEqual(["Hi.", "one two three"]);
  expect(chat.getSnapshot().messages[0]!.branch).toEqual({ number: 1, count: 2 });
});

it("says that the server cannot be reached, and goes on when it can", async () => {
  const server = new Server();
  const chat = conversation(server.page(), { id: "a" });
  const { between } = server;
  server.between = () => Promise.reject(new TypeError("Failed to fetch"));
  chat.subscribe(() => {});
  await vi.waitFor(() => expect(chat.getSnapshot().notice).toEqual({ type: "reconnecting" }));
  expect(chat.getSnapshot().status).toBe("opening");
  server.between = between;
  await vi.waitFor(() =>
    expect(chat.getSnapshot()).toMatchObject({ status: "ready", notice: undefined, error: undefined }),
  );
});

it("says with which status the server has refused", async () => {
  const server = new Server();
  const chat = conversation(server.page(""), { id: "a" });
  expect(await chat.send("Hi.")).toBe(false);
  expect(chat.getSnapshot()).toMatchObject({ status: "error", error: { status: 401 } });
});

it("refuses an answer that answers nothing", async () => {
  const server = new Server();
  const chat = conversation(server.page(), { id: "a" });
  await chat.send("Pay.");
  await vi.waitFor(() => expect(chat.getSnapshot().questions).toHaveLength(1));
  const [question] = chat.getSnapshot().questions;
  expect(() => chat.answer(question as never, { yes: true } as never)).toThrow(/needs \{ behavior \}/);
});

it("shows that another page has gone back, and that the chat was deleted", async () => {
  const server = new Server();
  const [mine, other] = ["ada", "ada"].map((user) => conversation(server.page(user), { id: "a" }));
  for (const screen of [mine!, other!]) screen.subscribe(() => {});
  await mine!.send("Hi.");
  await vi.waitFor(() => expect(other!.getSnapshot()).toMatchObject({ status: "ready" }));
  await vi.waitFor(() => expect(other!.getSnapshot().messages).toHaveLength(2));
  const { messages } = await server.get("/a");
  await server.post("/a/call", { method: "reset", args: [messages.slice(0, 1)] });
  for (const screen of [mine!, other!])
    await vi.waitFor(() => expect(screen.getSnapshot().messages).toHaveLength(1));
  await server.asked("/a", { method: "DELETE" });
  for (const screen of [mine!, other!])
    await vi.waitFor(() => expect(screen.getSnapshot().messages).toEqual([]), 5000);
});

it("stands in the list of its user, with its first message as the title", async () => {
  const server = new Server();
  const chat = conversation(server.page(), { id: "a" });
  for (const text of ["Hi.", "And again."]) {
    await chat.send(text);
    await vi.waitFor(() => expect(chat.getSnapshot().status).toBe("ready"));
  }
  expect((await server.get("")).sessions).toMatchObject([{ id: "a", title: "Hi." }]);
});
