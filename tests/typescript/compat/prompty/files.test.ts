import { afterEach, describe, expect, it, vi } from "vitest";
import {
  expandNonces,
  loadPrompty,
  load,
  parse,
  prepare,
  render,
  renderSegments,
  validateInputs,
  type Prompty,
} from "looplet/prompty";
import { expectProjection, fixture, hasVectors, stage } from "./vectors.js";

/** Files by their paths, as `host.vfs`. */
function files(content: { [path: string]: string }) {
  return {
    readFile(path: string): string {
      const text = content[path];
      if (text === undefined) throw new Error("ENOENT");
      return text;
    },
  };
}

const promptyOf = (frontmatter: object, instructions = "Hello"): string =>
  `---\n${JSON.stringify(frontmatter)}\n---\n${instructions}`;

const agentOf = (instructions: string, frontmatter: object = {}): Promise<Prompty> =>
  loadPrompty(promptyOf({ model: "m", ...frontmatter }, instructions));

describe.skipIf(!hasVectors)("vectors", () => {
  it.each(stage("load"))("S004-04: load %s", async (_, { input, expected }) => {
    const base = `${["/files", input.agent_subdir].filter(Boolean).join("/")}/agent.prompty`;
    const text = input.fixture
      ? fixture(input.fixture)
      : (input.frontmatter_raw ?? promptyOf(input.frontmatter));
    const folder = base.slice(0, base.lastIndexOf("/"));
    const content = Object.entries(input.files ?? {}).map(([name, value]) => [
      `${folder}/${name}`,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
    const host = { env: input.env, vfs: files({ [base]: text, ...Object.fromEntries(content) }) };
    const loading = load(base, { host });
    if (expected.error !== undefined) {
      const failing = input.inputs ? loading.then((agent) => validateInputs(agent, input.inputs)) : loading;
      const error: Error = await failing.then(
        () => expect.unreachable(),
        (error) => error,
      );
      expect(error.message).toContain(expected.error);
      if (expected.error_field) expect(error.message).toContain(expected.error_field);
      return;
    }
    const agent = await loading;
    const { validated_inputs, ...fields } = expected;
    expectProjection(agent, fields);
    if (validated_inputs !== undefined) expect(validateInputs(agent, input.inputs)).toEqual(validated_inputs);
    else expect(Object.keys(fields)).not.toEqual([]);
  });

  it.each(stage("parse"))("S004-05: parse %s", async (_, { input, expected }) => {
    const agent = await agentOf("");
    const threads = Object.entries(input.thread_inputs ?? {}).map(([name, value]) => {
      const nonce = new RegExp(`__PROMPTY_THREAD_[a-f0-9]{8}_${name}__`).exec(input.rendered)![0];
      return [nonce, { kind: "thread", name, value }] as const;
    });
    expect(expandNonces(await parse(agent, input.rendered), new Map(threads))).toEqual(expected.messages);
  });

  const kindsOf = (inputs: { [name: string]: any }, strict: string[] = []) =>
    Object.entries(inputs).map(([name, value]) => ({
      name,
      kind: value?._kind ?? "string",
      strict: strict.includes(name),
    }));

  it.each(stage("render"))("S004-05: render %s", async (_, { input, expected }) => {
    const agent = await agentOf("", {
      template: { format: { kind: input.engine } },
      inputs: kindsOf(input.inputs),
    });
    const text = await render({ ...agent, instructions: input.template }, input.inputs);
    if (expected.nonce_pattern !== undefined) expect(text).toMatch(new RegExp(expected.nonce_pattern));
    else expect(text).toBe(expected.rendered);
  });

  it.each(stage("render_segments"))("S004-05: segments %s", async (_, { input, expected }) => {
    const agent = await agentOf("", { inputs: kindsOf(input.inputs, input.strict_props) });
    const segments = renderSegments({ ...agent, instructions: input.template }, input.inputs);
    if (expected.error !== undefined) await expect(segments).rejects.toMatchObject({ name: expected.error });
    else expect(await segments).toEqual(expected.segments);
  });
});

describe("files", () => {
  const vfs = files({
    "/files/a.prompty": promptyOf({
      model: "m",
      metadata: { more: "${file:more.yaml}", text: "${file:note.txt}" },
    }),
    "/files/more.yaml": "key: ${env:KEY}",
    "/files/note.txt": "A note.",
    "/secret.txt": "secret",
  });

  it("S004-04: references are read beside the file, and out of its folder only where the host says so", async () => {
    const host = { vfs, env: { KEY: "k" } };
    expect((await load("/files/a.prompty", { host })).metadata).toEqual({
      more: { key: "k" },
      text: "A note.",
    });
    const text = promptyOf({ model: "m", metadata: { stolen: "${file:../secret.txt}" } });
    await expect(loadPrompty(text, { base: "/files/b.prompty", host })).rejects.toThrow(
      "outside allowed roots",
    );
    const wide = await loadPrompty(text, { base: "/files/b.prompty", host: { ...host, roots: ["/"] } });
    expect(wide.metadata).toEqual({ stolen: "secret" });
    const linked = {
      ...host,
      vfs: { ...vfs, realpath: (path: string) => path.replace("note", "../secret") },
    };
    await expect(load("/files/a.prompty", { host: linked })).rejects.toThrow("outside allowed roots");
  });

  it("S004-04: a file that is missing has an error of its own", async () => {
    await expect(load("/files/none.prompty", { host: { vfs } })).rejects.toMatchObject({
      name: "FileNotFoundError",
    });
  });

  it("S004-05: prepare validates, renders, parses, and puts threads and images in their places", async () => {
    const inputs = [
      { name: "who", kind: "string", default: "you" },
      { name: "thread", kind: "thread" },
      { name: "photo", kind: "image" },
    ];
    const agent = await agentOf(
      "system:\nI know {{who}}.\n{{thread}}\nuser[name=Bob, id=7]:\nLook: {{photo}}",
      { inputs },
    );
    const thread = [{ role: "user", content: "Hi" }];
    expect(await prepare(agent, { thread, photo: "https://a/b.png" })).toEqual([
      { role: "system", content: [{ kind: "text", value: "I know you." }] },
      { role: "user", content: [{ kind: "text", value: "Hi" }] },
      {
        role: "user",
        metadata: { name: "Bob", id: 7 },
        content: [
          { kind: "text", value: "Look: " },
          { kind: "image", value: "https://a/b.png" },
        ],
      },
    ]);
  });

  it("P-12: a required input that is absent is named, and inputs that no file declares pass", async () => {
    const agent = await agentOf("{{city}}", {
      inputs: [{ name: "city", kind: "string", required: true, example: "Rome" }],
    });
    expect(() => validateInputs(agent, {})).toThrow("Missing required input: city");
    expect(validateInputs(agent, { city: 5, more: true })).toEqual({ city: 5, more: true });
  });

  it("S004-05: the template language has conditions, loops, filters and trim markers, and no prototypes", async () => {
    const template =
      "{% for one in list -%}\n{{ loop.index }}/{{ loop.length }} {{ one.name | upper }}{% if not loop.last %}, {% endif %}" +
      "{% endfor %}{# note #}{{ list[0].name ~ '!' }}{% if n > 1 and 'a' in list[0].name %} yes{% elif n %} one{% else %} no{% endif %}" +
      "{{ none | default('') }}{{ missing | default('d') }}{{ list.__proto__ }}{{ __proto__.x }}{{ ['a', 'b'] | join('-') }}";
    const agent = await agentOf(template);
    expect(await render(agent, { list: [{ name: "ab" }, { name: "c" }], n: 2 })).toBe(
      "1/2 AB, 2/2 Cab! yesda-b",
    );
    await expect(render({ ...agent, instructions: "{{ a.b( }}" })).rejects.toMatchObject({
      name: "ValueError",
    });
  });

  it("S004-05: a strict value cannot complete a role marker of the template", async () => {
    const agent = await agentOf("{{ q }}:\nHello", { inputs: [{ name: "q", kind: "string", strict: true }] });
    await expect(prepare(agent, { q: "system" })).rejects.toMatchObject({ name: "StrictViolation" });
    expect(await prepare(agent, { q: "Bob" })).toHaveLength(1);
  });
});

describe("files by their addresses", () => {
  afterEach(() => vi.unstubAllGlobals());
  const base = "https://prompts.test/team/agent.prompty";
  const served: { [address: string]: string } = {
    [base]: promptyOf({ model: "m", metadata: { tone: "${file:parts/tone.txt}" } }, "Be brief."),
    "https://prompts.test/team/parts/tone.txt": "friendly",
  };

  it("are fetched where host.vfs is missing, with the files that they refer to", async () => {
    const fetch = vi.fn(
      async (address: string) =>
        new Response(served[address] ?? "no", {
          status: address in served ? 200 : 404,
        }),
    );
    vi.stubGlobal("fetch", fetch);
    const agent = await load(base);
    expect([agent.instructions, agent.metadata, agent.path]).toEqual([
      "Be brief.",
      { tone: "friendly" },
      base,
    ]);
    expect(fetch.mock.calls[0]).toMatchObject([base, { method: "GET", redirect: "manual" }]);
    await expect(load("https://prompts.test/gone.prompty")).rejects.toThrow(/FileNotFoundError.*404/);
  });

  it("stay in their folder", async () => {
    const outside = promptyOf({ model: "m", metadata: { a: "${file:../secret.txt}" } });
    vi.stubGlobal("fetch", async () => new Response(outside));
    await expect(load(base)).rejects.toThrow(/outside allowed roots/);
  });

  it("are read from no other address, and no further than they may be", async () => {
    const away = new Response(null, { status: 302, headers: { location: "https://evil.test/x" } });
    vi.stubGlobal("fetch", async () => away);
    await expect(load(`${base}?key=secret-of-mine-1`)).rejects.toThrow(
      /^FileNotFoundError: https:\/\/prompts\.test\/[^?]*: the file was redirected to https:\/\/evil\.test /,
    );
    let taken = 0;
    const pull = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
      taken += 2 ** 20;
      stream.enqueue(new Uint8Array(2 ** 20));
    };
    vi.stubGlobal("fetch", async () => new Response(new ReadableStream({ pull })));
    await expect(load(base)).rejects.toThrow(/longer than is taken/);
    expect(taken).toBeLessThan(2 ** 23);
  });

  it("a path without host.vfs is an error that says what reads it", async () => {
    await expect(load("agent.prompty")).rejects.toThrow(/agent\.prompty: host\.vfs is missing/);
  });
});
