// Lets the engine's instances trap. To be imported before the first run: it takes the place of
// `WebAssembly.instantiate`, and of `WebAssembly.Instance`, which makes the fresh instance after a loss.

/** What a lost instance can throw: traps and exhausted stacks, by the classes that browsers give them. */
export const losses = {
  // An address beyond the memory: a true trap of WebAssembly.
  trap: (call, [, ...rest]) => call(0x7fff_fff0, ...rest),
  "stack overflow of V8": () => {
    throw new RangeError("Maximum call stack size exceeded");
  },
  "stack overflow of Firefox": () => {
    throw Object.assign(new Error("too much recursion"), { name: "InternalError" });
  },
  panic: () => {
    throw new Error("panicked at src/engine/run.rs:1:1: made by a test");
  },
};

let armed;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (source, imports) => {
  const made = await instantiate(source, imports);
  const [instance, module] = made.instance ? [made.instance, made.module] : [made, source];
  return { instance: { exports: trapping(instance) }, module };
};
WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct: (Instance, given) => ({ exports: trapping(new Instance(...given)) }),
});

function trapping(instance) {
  const exports = { ...instance.exports };
  const names = [
    "runhandle_chunk",
    "runhandle_handleInput",
    "playInput",
    "runhandle_outcome",
    "runhandle_respond",
  ];
  for (const name of names) {
    const call = instance.exports[name];
    exports[name] = (...given) => {
      if (armed?.name !== name) return call(...given);
      const { loss } = armed;
      armed = undefined;
      return losses[loss](call, given);
    };
  }
  return exports;
}

/** The next call of this export loses the instance. */
export function arm(name, loss = "trap") {
  armed = { name, loss };
}

/**
 * Two runs of which one loses the instance, one with a store, which goes on and then loses an instance itself, and
 * one run after them, in any host: what each came to. `looplet` is the package, `loss` a name above.
 */
export async function lose({ anthropic, createAgent }, loss) {
  const encoder = new TextEncoder();
  const event = (type, fields) => encoder.encode(`data: ${JSON.stringify({ type, ...fields })}\n\n`);
  const delta = (text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  const opening = [
    event("message_start", {
      message: { id: "m", model: "m", usage: { input_tokens: 1, output_tokens: 1 } },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  ];
  const closing = [
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
    event("message_stop", {}),
  ];
  const streams = [];
  let aborted = 0;
  const fetch = async (_url, { signal }) => {
    signal.addEventListener("abort", () => aborted++);
    const body = new ReadableStream({ start: (stream) => void streams.push(stream) });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const model = anthropic("m", { apiKey: "k", dangerouslyAllowBrowser: true, fetch });
  const agent = createAgent({ model });
  const entries = [];
  const store = { load: () => entries, append: (_key, added) => void entries.push(...added) };
  const durable = createAgent({ model, store });
  const opened = async () => {
    while (streams.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return streams.shift();
  };
  const begin = async (prompt, pieces, by = agent) => {
    let heard;
    const isHeard = new Promise((resolve) => (heard = resolve));
    const events = [];
    const onEvent = ({ type, code }) => events.push(type === "warning" ? code : type);
    const run = by.run(prompt, { onText: heard, onEvent });
    const stream = await opened();
    for (const chunk of [...opening, ...pieces.map(delta)]) stream.enqueue(chunk);
    await isHeard;
    return { run, stream, events };
  };
  const told = async ({ run, events }) => {
    const { outcome, error, text, messages } = await run.result;
    const said = messages.map(
      ({ role, content }) => `${role}: ${content.map((block) => block.text).join("")}`,
    );
    return { outcome, code: error?.code, message: error?.message, text, said, events, last: events.at(-1) };
  };
  const kept = await begin("kept", ["lost"], durable);
  const waiting = await begin("one", ["first"]);
  const losing = await begin("two", ["second"]);
  arm("runhandle_chunk", loss);
  losing.stream.enqueue(delta(" part"));
  const lost = await Promise.all([told(waiting), told(losing)]);
  const stopped = aborted;
  // The run with a store asks again, and loses the fresh instance itself.
  const again = await opened();
  arm("runhandle_chunk", loss);
  for (const chunk of [...opening, delta("lost")]) again.enqueue(chunk);
  const last = await opened();
  for (const chunk of [...opening, delta("kept"), ...closing]) last.enqueue(chunk);
  const wentOn = await told(kept);
  const next = await begin("three", ["third"]);
  for (const chunk of closing) next.stream.enqueue(chunk);
  return { lost, kept: wentOn, next: await told(next), aborted: stopped };
}

/** Whether `lose` came to what it must, as a text to print. */
export function verdict({ lost, kept, next, aborted }) {
  const problems = [];
  const expect = (what, got, wanted) => {
    if (JSON.stringify(got) !== JSON.stringify(wanted))
      problems.push(`${what}: ${JSON.stringify(got)} and not ${JSON.stringify(wanted)}`);
  };
  const [waiting, losing] = lost;
  expect(
    "both end",
    [waiting.outcome, waiting.code, losing.outcome, losing.code],
    ["failed", "bug", "failed", "bug"],
  );
  expect("the last event", [waiting.last, losing.last], ["finish", "finish"]);
  expect("the text of the first", waiting.text, "first");
  expect("the transcript of the first", waiting.said, ["user: one", "assistant: first"]);
  expect("the transcript of the second", losing.said, ["user: two", "assistant: second"]);
  expect("requests aborted", aborted, 3);
  expect(
    "the run with a store",
    [kept.outcome, kept.text, kept.said],
    ["completed", "kept", ["user: kept", "assistant: kept"]],
  );
  const count = (type) => kept.events.filter((other) => other === type).length;
  expect(
    "its events",
    [count("run-start"), count("instance_lost"), count("reset"), count("finish")],
    [1, 2, 1, 1],
  );
  expect("the next run", [next.outcome, next.text], ["completed", "third"]);
  return problems.length === 0 ? "lost and found" : problems.join("; ");
}
