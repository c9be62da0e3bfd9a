// The JavaScript side of a run in the shell's own tests: records what the shell calls, answers requests from a script,
// and calls back into the run where a test asks for it. The real one is src/face/driver.ts, tested in tests/face.

/** `fetch(url, init)` answers requests; `on` maps "text", an event's type, "callTool" or "done" to a callback. */
export class TestHost {
  constructor() {
    this.log = [];
    this.text = "";
    this.timer = undefined;
    this.now_ms = 1000;
    this.open = new Set();
    this.on = {};
    this.respond = () => new Promise(() => {});
    this.finished = new Promise((resolve) => (this.finish = resolve));
  }

  setMemory(memory) {
    this.memory = memory;
  }

  call(name, value) {
    this.on[name]?.(value);
  }

  deliver(wordsAt, records, textAt, bytes) {
    const words = new Uint32Array(this.memory.buffer, wordsAt, records * 8).slice();
    const all = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      new Uint8Array(this.memory.buffer, textAt, bytes).slice(),
    );
    let from = 0;
    for (let at = 0; at < words.length; at += 8) {
      const text = all.slice(from, (from += words[at + 7]));
      if (words[at] === 3) this.event(JSON.parse(text));
      else this.delta(text);
    }
  }

  /** Reads what `chunk` has lent, and hands it on between `hold` and `resume`. */
  lent(lent) {
    const wordsAt = Math.floor(lent / 64);
    const text = String.fromCharCode(...new Uint16Array(this.memory.buffer, wordsAt + 32, lent % 64));
    this.hold();
    this.delta(text);
    this.resume();
  }

  delta(text) {
    this.text += text;
    this.log.push(`text ${text}`);
    this.call("text", text);
  }

  event(event) {
    this.log.push(event.type);
    this.call(event.type, event);
  }

  callTool(call, _id, name) {
    this.log.push(`tool ${name}`);
    this.call("callTool", call);
  }

  abortTool() {
    this.log.push("abort tool");
  }

  ask() {}

  done() {
    this.log.push("done");
    this.call("done");
    this.finish();
  }

  authorize(_method, _url, headers) {
    return this.authorized ? this.authorized(headers) : headers;
  }

  fetch(url, init) {
    this.init = init;
    return this.respond(url, init);
  }

  race(value, signal) {
    return Promise.race([
      value,
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true })),
    ]);
  }

  head(response) {
    if (!response) throw new TypeError("no response");
    return [response.status, response.body ?? null, ...Object.entries(response.headers ?? {}).flat()];
  }

  async read(request, body) {
    this.open.add(request);
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (!this.open.has(request)) return;
        if (done) break;
        this.feed(request, value);
      }
      this.end(request);
    } catch (error) {
      if (this.open.has(request)) this.fail(request, String(error));
    } finally {
      reader.releaseLock();
    }
  }

  stop(request) {
    this.open.delete(request);
  }

  describe(error) {
    return String(error?.message ?? error);
  }

  now() {
    return this.now_ms;
  }

  random() {
    return 0.5;
  }

  arm(delayMs) {
    this.timer = delayMs;
  }

  disarm() {
    this.timer = undefined;
  }
}

/** A body of the given chunks, at the end of which it closes or stays silent. */
function bodyOf(chunks, isOpenEnded) {
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk !== undefined) controller.enqueue(encoder.encode(chunk));
      else if (!isOpenEnded) controller.close();
      else return new Promise(() => {});
    },
  });
}

export function respondWith(host, chunks, isOpenEnded) {
  host.respond = async () => new Response(bodyOf([...chunks], isOpenEnded));
}

export function respondDuck(host, status, chunks) {
  host.respond = async () => ({ status, headers: { "x-id": "1" }, body: bodyOf([...chunks], false) });
}

export function respondThrowing(host, isAtOnce) {
  host.respond = isAtOnce
    ? () => {
        throw new TypeError("thrown");
      }
    : async () => {
        throw new TypeError("rejected");
      };
}

export function authorizeWith(host, name, value) {
  host.authorized = async (headers) => [...headers, name, value];
}

export function settled() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

const rejections = [];
addEventListener("unhandledrejection", (event) => rejections.push(String(event.reason)));

export function takeRejections() {
  return rejections.splice(0);
}
