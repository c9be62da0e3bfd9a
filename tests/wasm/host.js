// The JavaScript side of a run in the shell's own tests: records what the shell calls, answers requests from a
// script, and calls back into the run where a test asks for it. The real one is src/typescript/core/host/driver.ts,
// tested in tests/typescript.

/** `respondTo(url, init)` answers requests; `on` maps "text", an event's type, "callTool" or "done" to a callback. */
export class TestHost {
  constructor() {
    this.log = [];
    this.text = "";
    this.timer = undefined;
    this.now_ms = 1000;
    this.requests = new Map();
    this.on = {};
    this.respondTo = () => new Promise(() => {});
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
  lent(outlet, units) {
    const text = String.fromCharCode(...new Uint16Array(this.memory.buffer, outlet + 32, units));
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

  perform(json) {
    const output = JSON.parse(json);
    if (output.callTool) {
      this.log.push(`tool ${output.callTool.toolName}`);
      this.call("callTool", output.callTool.call);
    }
    if (output.abortTool) this.log.push("abort tool");
    if (output.abort) this.stop(output.abort.request);
    if (output.redact) this.redact(output.redact.request, JSON.stringify(output.redact.failure));
  }

  done() {
    this.log.push("done");
    this.call("done");
    this.finish();
  }

  async send(request, json, at, length) {
    const body = new Uint8Array(this.memory.buffer, at, length).slice();
    const controller = new AbortController();
    this.requests.set(request, controller);
    const { method, url, headers } = JSON.parse(json);
    let fail = this.notSent;
    try {
      await null;
      const sent = this.headersOf(JSON.stringify(this.authorized ? await this.authorized(headers) : headers));
      this.init = { method, headers: sent, body, signal: controller.signal };
      const answer = this.respondTo(url, this.init);
      fail = this.fail;
      const response = await answer;
      if (!this.requests.has(request)) return;
      if (response instanceof Response) this.respond(request, response);
      else this.head(request, JSON.stringify([Object.entries(response.headers), response.status]));
      if (this.requests.has(request)) await this.read(request, response.body);
    } catch (error) {
      if (this.requests.has(request)) fail.call(this, request, String(error?.message ?? error));
    }
  }

  async read(request, body) {
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (!this.requests.has(request)) return;
        if (done) break;
        this.feed(request, value);
      }
      this.end(request);
    } catch (error) {
      if (this.requests.has(request)) this.fail(request, String(error));
    } finally {
      reader.releaseLock();
    }
  }

  stop(request) {
    this.requests.get(request)?.abort();
    this.requests.delete(request);
  }

  release() {
    this.disarm();
    for (const request of [...this.requests.keys()]) this.stop(request);
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
  host.respondTo = async () => new Response(bodyOf([...chunks], isOpenEnded));
}

export function respondDuck(host, status, chunks) {
  host.respondTo = async () => ({ status, headers: { "x-id": "1" }, body: bodyOf([...chunks], false) });
}

export function respondThrowing(host, isAtOnce) {
  host.respondTo = isAtOnce
    ? () => {
        throw new TypeError("thrown");
      }
    : async () => {
        throw new TypeError("rejected");
      };
}

export function authorizeWith(host, name, value) {
  host.authorized = async (headers) => [...headers, [name, value]];
}

export function settled() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

const rejections = [];
addEventListener("unhandledrejection", (event) => rejections.push(String(event.reason)));

export function takeRejections() {
  return rejections.splice(0);
}

/** The message of what the function throws; empty if it returns. */
export function thrownBy(call) {
  try {
    call();
    return "";
  } catch (error) {
    return error.message;
  }
}
