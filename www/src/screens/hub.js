/**
 * One chat of one agent, for several front ends: a run that one of them starts is reported to the others. Each has a
 * seat, through which it sees the agent. An empty seat stops nothing.
 */
export class Hub {
  #chat;
  #going;
  #seats = new Set();

  constructor(chat) {
    this.#chat = chat;
  }

  /**
   * A place at the chat. `joined` returns the current run, with all of its events.
   *
   * Contract of `joins`: called for each run that another seat starts; may be asynchronous.
   */
  seat(joins) {
    const seat = { joins, isTaken: true };
    this.#seats.add(seat);
    const leave = () => {
      seat.isTaken = false;
      this.#seats.delete(seat);
    };
    const agent = this.#agentOf(seat);
    return { agent, joined: () => seen(this.#going.run, seat, replay(this.#going)), leave };
  }

  /** The current run: `{ run, before, prompt }`. `before` are the messages before its prompt. */
  get going() {
    return this.#going;
  }

  /** The messages so far. Of a run in progress, only the prompt. */
  get messages() {
    if (!this.#going) return this.#chat.messages;
    const { before, prompt } = this.#going;
    return [...before, { role: "user", content: prompt }];
  }

  stop() {
    this.#going?.run.abort("stopped by the user");
  }

  /** The agent as a seat sees it: the methods that `LoopletChatTransport` and `agUiAgent` ask for. */
  #agentOf(seat) {
    const hub = this;
    const chat = {
      get messages() {
        return hub.#chat.messages;
      },
      get current() {
        return hub.#going?.run;
      },
      run: (prompt, options) => this.#run(seat, prompt, options),
      reset: (messages) => this.#chat.reset(messages),
      saved: () => this.#chat.saved(),
    };
    return {
      run: (prompt, options) => this.#run(seat, prompt, options),
      openChat: async () => chat,
      readChat: async () => ({ messages: this.messages, isRunning: this.#going !== undefined }),
      attach: (_, { onEvent }) => this.#attach(seat, onEvent),
    };
  }

  #run(seat, prompt, { onEvent } = {}) {
    const content = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    const events = [];
    const listeners = new Set(onEvent ? [onEvent] : []);
    const hear = (event) => {
      events.push(event);
      for (const listener of listeners) listener(event);
    };
    const before = this.#chat.messages;
    const run = this.#chat.run(content, { onEvent: hear });
    const going = { run, before, prompt: content, events, listeners };
    this.#going = going;
    const over = () => {
      if (this.#going === going) this.#going = undefined;
    };
    run.result.then(over, over);
    for (const other of this.#seats) if (other !== seat) void other.joins(going);
    return seen(run, seat);
  }

  #attach(seat, onEvent) {
    const { run, events, listeners } = this.#going;
    for (const event of events) onEvent(event);
    listeners.add(onEvent);
    return seen(run, seat);
  }
}

/** A run that only a taken seat can stop: `useChat` aborts its run when its component unmounts. */
function seen(run, seat, events) {
  const own = { abort: (reason) => seat.isTaken && run.abort(reason), ...(events && { events }) };
  return new Proxy(run, {
    get(target, name) {
      if (name in own) return own[name];
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The events of a run from the first one on, however late it is joined. */
function replay({ events, listeners }) {
  return async function* () {
    let wake = () => {};
    listeners.add(() => wake());
    for (let at = 0; events[at - 1]?.type !== "finish"; at += 1) {
      if (at === events.length) await new Promise((resolve) => (wake = resolve));
      yield events[at];
    }
  };
}
