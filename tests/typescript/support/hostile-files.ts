/**
 * `.loop` files of strangers who mean harm, for every reader of such files. Nothing here needs Node, so that a page
 * can walk the table too.
 */

export interface HostileFile {
  readonly name: string;
  readonly text: string;
  /** `refused`: each reader says that no run has written it. `played`: a run may have written it. */
  readonly fate: "refused" | "played";
}

/** Names that mean something else on an object. */
const NAMES = ["__proto__", "constructor", "toString", "then"];

/** Texts that mean something to a page, a report or a code that is written. */
export const MARKUP =
  "<img src=x onerror=alert(1)></script><script>alert(1)</script>]]></testsuite>\"'`${1}```\n| a |\n*/ process.exit(3) /*";

/** Texts that a terminal takes as commands, and lines that look like a program's own. */
export const ESCAPES =
  "\u001b]0;owned\u0007\u001b[2J\u009b31m\u001b]8;;https://evil.test\u001b\\\u202e\u2066\r\u0008\u007f\n✓ replay: forged\n";

const DEEP = 100_000;

/** A file as its JSON says. */
type Json = any;

/** The files, each made of the text of a file that a run has written: one process, one request at least. */
export function hostileFiles(source: string): HostileFile[] {
  const whole = (): Json => JSON.parse(source);
  const edited = (edit: (file: Json, process: Json) => unknown): string => {
    const file = whole();
    edit(file, file.processes[0]);
    return JSON.stringify(file);
  };
  const files: HostileFile[] = [];
  const add = (fate: HostileFile["fate"], texts: { readonly [name: string]: string }): void => {
    for (const [name, text] of Object.entries(texts)) files.push({ name, text, fate });
  };
  const edit = (
    fate: HostileFile["fate"],
    edits: { readonly [name: string]: (file: Json, process: Json) => unknown },
  ): void => add(fate, Object.fromEntries(Object.entries(edits).map(([name, one]) => [name, edited(one)])));

  add("refused", {
    "no text": "",
    spaces: " \n\t",
    "a zero": "\u0000",
    null: "null",
    "a number": "7",
    "a list": "[]",
    "an object": "{}",
    "a page": `<!doctype html><title>${MARKUP}</title>`,
    escapes: ESCAPES,
    "a mark before it": `\ufeff${source}`,
    "two of them": source + source,
    "a list of it": `[${source}]`,
    "a line of code behind it": `${source};alert(1)`,
    "one quarter": source.slice(0, source.length / 4),
    "three quarters": source.slice(0, (source.length * 3) / 4),
    "all but the end": source.trimEnd().slice(0, -1),
    "a beginning": '{"loop":1,"looplet":"0.1.0"',
    "numbers that are none": source.replace(/"after":0/, '"after":NaN'),
    "a comment": `/* ${ESCAPES} */${source}`,
  });

  edit("refused", {
    "version 0": (file) => (file.loop = 0),
    "version -1": (file) => (file.loop = -1),
    "version 1.5": (file) => (file.loop = 1.5),
    "version 2": (file) => (file.loop = 2),
    "version 1e300": (file) => (file.loop = 1e300),
    "a version as a text": (file) => (file.loop = "1"),
    "a newer version with escapes": (file) => Object.assign(file, { loop: 99, looplet: ESCAPES }),
    "a newer version with markup": (file) => Object.assign(file, { loop: 99, looplet: MARKUP }),
    "a newer version with a long name": (file) =>
      Object.assign(file, { loop: 99, looplet: "9".repeat(1_000_000) }),
    "a newer version of an object": (file) => Object.assign(file, { loop: 99, looplet: { toString: 1 } }),
    "a newer version of nothing": (file) => ((file.loop = 99), delete file.looplet),
  });
  edit("refused", {
    "a looplet with escapes": (file) => (file.looplet = ESCAPES),
    "a looplet of an object": (file) => (file.looplet = { toString: null }),
  });
  edit("played", {
    "an id with escapes": (file) => (file.id = ESCAPES),
    "an id with markup": (file) => (file.id = MARKUP),
    "an id with a half letter": (file) => (file.id = "\ud800"),
    "an id of a megabyte": (file) => (file.id = "x".repeat(1_000_000)),
    "an outcome with escapes": (file) => (file.outcome = ESCAPES),
    "an outcome of an object's name": (file) => (file.outcome = "__proto__"),
  });
  add("refused", { "version 1e999": source.replace('"loop":1', '"loop":1e999') });

  const deep = `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`;
  const deepObject = `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`;
  const placed = (json: string, put: (file: Json, process: Json) => unknown): string =>
    edited(put).replace('"HERE"', () => json);
  for (const [shape, json] of [
    ["lists", deep],
    ["objects", deepObject],
  ] as const)
    add("refused", {
      [`deep ${shape} as processes`]: placed(json, (file) => (file.processes = "HERE")),
      [`deep ${shape} as an input`]: placed(json, (_, { inputs }) => (inputs[1].input.json = "HERE")),
      [`deep ${shape} in the configuration`]: placed(json, (_, { config }) => (config.system = "HERE")),
      [`deep ${shape} in a schema`]: placed(
        json,
        (_, { config }) => (config.tools[0].inputSchema = { properties: "HERE" }),
      ),
      [`deep ${shape} in the options`]: placed(json, (_, process) => (process.options.inputs = "HERE")),
      [`deep ${shape} as entries`]: placed(
        json,
        (_, process) => (process.entries = [{ seq: 1, more: "HERE" }]),
      ),
      [`deep ${shape} as expectations`]: placed(json, (file) => (file.expected = "HERE")),
    });
  add("refused", {
    "deep lists where nobody looks": placed(deep, (file) => (file.more = "HERE")),
    "deep objects where nobody looks": placed(deepObject, (_, { inputs }) => (inputs[0].more = "HERE")),
    "deep objects in a field of the configuration": placed(
      deepObject,
      (_, { config }) => (config.more = "HERE"),
    ),
  });

  for (const name of NAMES) {
    const own = (value: unknown): Json => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);
    const polluting = own({ polluted: true });
    const put = (holder: Json): Json =>
      Object.defineProperty(holder, name, { value: polluting[name], enumerable: true });
    edit("refused", {
      [`${name} in the facts of an input`]: (_, { inputs }) => put(inputs[1].input.json),
      [`${name} as an input`]: (_, { inputs }) => (inputs[1].input.json = polluting),
      [`${name} as a list`]: (_, process) => (process.inputs = polluting),
    });
    edit("played", {
      [`${name} in the file`]: (file) => put(file),
      [`${name} in a process`]: (_, process) => put(process),
      [`${name} in the configuration`]: (_, { config }) => put(config),
      [`${name} in a model`]: (_, { config }) => put(config.model),
      [`${name} in a tool`]: (_, { config }) => put(config.tools[0]),
      [`${name} in a schema`]: (_, { config }) => put(config.tools[0].inputSchema),
      [`${name} in the options`]: (_, { options }) => put(options),
      [`${name} in an input`]: (_, { inputs }) => put(inputs[1]),
      [`${name} as the answer of a tool`]: (_, { inputs }) => {
        for (const { input } of inputs)
          if (input.json?.toolFinished) input.json.toolFinished.result = { value: polluting };
      },
    });
    add("played", {
      [`a tool with the name ${name}`]: source
        .replaceAll('"read"', JSON.stringify(name))
        .replaceAll('\\"read\\"', JSON.stringify(JSON.stringify(name)).slice(1, -1)),
      [`the input of a call with ${name}`]: source.replaceAll('\\\\\\"n\\\\\\"', `\\\\\\"${name}\\\\\\"`),
    });
  }

  for (const [what, text] of [
    ["markup", MARKUP],
    ["escapes", ESCAPES],
  ] as const) {
    const within = JSON.stringify(text).slice(1, -1);
    edit("refused", {
      [`${what} as the name of the vendor`]: (_, { config }) => (config.model.vendor = text),
      [`${what} as a random number`]: (_, { inputs }) => (inputs[1].random = text),
      [`${what} as the bytes of a chunk`]: (_, { inputs }) =>
        (inputs[1].input = { bytes: { request: 0, base64: text } }),
      [`${what} as the facts of an input`]: (_, { inputs }) => (inputs[1].input.json = { [text]: text }),
      [`${what} as an entry`]: (_, process) => (process.entries = [text]),
    });
    edit("played", {
      [`${what} as the prompt`]: (_, { inputs }) => (inputs[0].input.json.prompt.content[0].text = text),
      [`${what} as the instructions`]: (_, { config }) => (config.system = text),
      [`${what} as the name of the model`]: (_, { config }) => (config.model.model = text),
      [`${what} as the address`]: (_, { config }) => (config.model.baseUrl = `https://a.test/${text}`),
      [`${what} as the description of a tool`]: (_, { config }) => (config.tools[0].description = text),
      [`${what} as the name of a tool`]: (_, { config }) => (config.tools[0].name = text),
      [`${what} as the loss`]: (_, process) => (process.lost = text),
      [`${what} as what is expected`]: (file) =>
        (file.expected = {
          requests: [{ method: text, url: text, start: 0, end: 0, body: text }],
          outcome: text,
          text,
        }),
      [`${what} as every answer of a tool`]: (_, { inputs }) => {
        for (const { input } of inputs)
          if (input.json?.toolFinished) input.json.toolFinished.result = { value: JSON.stringify(text) };
      },
    });
    add("played", {
      // In texts of models, whose JSON stands in the texts of chunks.
      [`${what} in the answers`]: source.replaceAll(
        'text_delta\\",\\"text\\":\\"',
        `text_delta\\",\\"text\\":\\"${JSON.stringify(within).slice(1, -1)}`,
      ),
      [`${what} as the ids of calls`]: source.replaceAll(
        '\\"id\\":\\"a\\"',
        `\\"id\\":\\"${JSON.stringify(within).slice(1, -1)}\\"`,
      ),
    });
  }

  edit("refused", {
    "no processes": (file) => (file.processes = []),
    "a process of null": (file) => (file.processes = [null]),
    "a process of a list": (file) => (file.processes = [[]]),
    "processes without inputs": (file) =>
      (file.processes = Array(3).fill({ config: {}, options: {}, inputs: [] })),
    "no configuration": (_, process) => delete process.config,
    "an empty configuration": (_, process) => (process.config = {}),
    "a tool of null": (_, { config }) => (config.tools[0] = null),
    "a tool of a list": (_, { config }) => (config.tools[0] = []),
    "limits of a text": (_, { config }) => (config.limits = "none"),
    "an input of null": (_, { inputs }) => (inputs[1].input.json = null),
    "an input of a list": (_, { inputs }) => (inputs[1].input.json = []),
    "an unknown input": (_, { inputs }) => (inputs[1].input.json = { explode: {} }),
    "two inputs in one": (_, { inputs }) => Object.assign(inputs[0].input.json, { cancel: { reason: "x" } }),
    "bytes that are no base64": (_, { inputs }) =>
      (inputs[1].input = { bytes: { request: 0, base64: "%%%" } }),
    "a number of 1.5": (_, { inputs }) => (inputs[1].after = 1.5),
    "a number below 0": (_, { inputs }) => (inputs[1].after = -1),
    "a number of 2^32": (_, { inputs }) => (inputs[1].after = 2 ** 32),
    "a request of 2^53": (_, { inputs }) => (inputs[1].input = { text: { request: 2 ** 53, text: "" } }),
    "a time of a text": (_, { inputs }) => (inputs[1].nowMs = "soon"),
    "a random number of 30 digits": (_, { inputs }) => (inputs[1].random = "9".repeat(30)),
    "an entry of 2^32": (_, process) => (process.entries = [{ seq: 2 ** 32 }]),
    "a last entry of -1": (_, process) => Object.assign(process, { entries: [], last: -1 }),
    "expectations of a list": (file) => (file.expected = []),
    "expectations of an open end": (file) =>
      (file.expected = { requests: [{ method: "POST", url: "", start: 0, end: -1, body: "" }], text: "" }),
    "expectations that grow": (file) =>
      (file.expected = {
        requests: Array.from({ length: 60 }, (_, at) => ({
          method: "POST",
          url: "https://a.test",
          start: Math.min(2 ** 31, 2 ** at),
          end: Math.min(2 ** 31, 2 ** at),
          body: "x",
        })),
        text: "",
      }),
    "a random number beyond it": (_, { inputs }) => (inputs[1].random = "18446744073709551616"),
    "limits of 1e300": (_, { config }) => (config.limits = { maxIterations: 1e300, maxTotalTokens: 1e300 }),
    "limits below 0": (_, { config }) => (config.limits = { maxIterations: -1, maxUsd: -1 }),
    "a retry without an end": (_, { config }) =>
      (config.retry = { maxRetries: 2 ** 32 - 1, baseMs: 1e300, jitterMs: 1e300 }),
    "a last entry that is not there": (_, process) =>
      Object.assign(process, { entries: [], last: 2 ** 32 - 1 }),
    "an entry with a wrong sum": (_, process) =>
      (process.entries = [{ seq: 1, kind: "begin", crc: 1 }, '{"seq":2,"crc":4294967295}']),
    "entries whose numbers jump": (_, process) =>
      (process.entries = [{ seq: 4294967295 }, { seq: 1 }, { seq: 1 }]),
    "100,000 entries": (_, process) =>
      (process.entries = Array.from({ length: 100_000 }, (_, at) => ({ seq: at + 1 }))),
    "a chunk of 20 megabytes": (_, { inputs }) => {
      const at = inputs.findIndex(({ input }: Json) => input.text !== undefined);
      inputs[at].input.text.text = `data: {"x":"${"x".repeat(20_000_000)}"}\n\n`;
    },
  });
  edit("played", {
    "a time of 1e300": (_, { inputs }) => (inputs[1].nowMs = 1e300),
    "a time before all times": (_, { inputs }) => (inputs[1].nowMs = -1e300),
    "times that go back": (_, { inputs }) => inputs.forEach((input: Json, at: number) => (input.nowMs = -at)),
    "the greatest random number": (_, { inputs }) => (inputs[1].random = "18446744073709551615"),
    "an input for no effect": (_, { inputs }) =>
      (inputs[1].input.json = { toolFinished: { call: 4294967295, result: { value: "1" } } }),
    "a chunk for no request": (_, { inputs }) =>
      (inputs[1].input = { text: { request: 4294967295, text: "x" } }),
    "a number of all outputs": (_, { inputs }) => (inputs[1].after = 2 ** 32 - 1),
    "inputs in reverse": (_, process) => process.inputs.reverse(),
    "the first input alone, 10,000 times": (_, process) =>
      (process.inputs = Array(10_000).fill(process.inputs[0])),
    "a process without inputs before it": (file) =>
      file.processes.unshift({ ...file.processes[0], inputs: [] }),
    "a process without inputs behind it": (file) => file.processes.push({ ...file.processes[0], inputs: [] }),
    "2,000 processes": (file, process) =>
      (file.processes = Array(2000).fill({ ...process, inputs: process.inputs.slice(0, 2) })),
    "500 configurations": (file, process) =>
      (file.processes = Array.from({ length: 500 }, (_, at) => ({
        ...process,
        config: { ...process.config, system: `${at}` },
        inputs: process.inputs.slice(0, 1),
      }))),
    "5,000 tools": (_, { config }) =>
      (config.tools = Array.from({ length: 5000 }, (_, at) => ({ ...config.tools[0], name: `tool${at}` }))),
    "5,000 agents": (_, { config }) => (config.agents = Array(5000).fill(config.agents?.[0] ?? {})),
    "a pattern that takes for ever": (_, { config }) =>
      (config.tools[0].inputSchema = {
        type: "object",
        properties: { n: { type: "string", pattern: "^(((a+)+)+)+((b{1,999}){1,999}){1,999}$" } },
      }),
    "a schema of itself": (_, { config }) =>
      (config.tools[0].inputSchema = { $ref: "#", allOf: [{ $ref: "#" }], properties: { n: { $ref: "#" } } }),
    "instructions of 2 megabytes": (_, { config }) => (config.system = "x".repeat(2_000_000)),
  });
  return files;
}
