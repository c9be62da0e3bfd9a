/** Files of strangers: where they may lead, and how large they may grow. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { scripted } from "looplet/practice";
import { clearConnections, load, loadPrompty, registerConnection, run, turn } from "looplet/prompty";
import "looplet";

vi.setConfig({ testTimeout: 60_000 });

const file = (frontmatter: object, text = "user:\nHi"): string =>
  `---\n${JSON.stringify({ model: { id: "m", provider: "openai" }, ...frontmatter })}\n---\n${text}`;
const referring = (path: string): string => file({ metadata: { a: `\${file:${path}}` } });

/** Every file that somebody reads, and a file for each path. */
function anyFile(textOf: (path: string) => string) {
  const read: string[] = [];
  return { read, readFile: (path: string) => (read.push(path), textOf(path)) };
}

const WAYS_OUT = [
  "../admin",
  "%2e%2e/admin",
  ".%2E/admin",
  "a/%2e%2e/%2e%2e/admin",
  "..%2fadmin",
  "%2e%2e%5cadmin",
  "%252e%252e/admin",
  "a\t/../../admin",
  ".\t./admin",
  ".\n./admin",
  ".\r./admin",
  "..\\admin",
  "a\\..\\..\\admin",
  ".. ",
  "a/../.. ",
  "//evil.test/admin",
  "\\\\evil.test\\admin",
  "\t//evil.test/admin",
  "/admin",
  "https://evil.test/admin",
  "https:\\\\evil.test\\admin",
  "\thttps://evil.test/admin",
  "http://prompts.test/team/a",
  "data:text/plain,a/../../admin",
  "file:///admin",
  "C:\\admin",
];

describe("references of a file", () => {
  afterEach(() => void vi.unstubAllGlobals().useRealTimers());

  it.each([
    ["an address", "https://prompts.test/team/a.prompty", "https://prompts.test/team/"],
    ["a path", "/files/team/a.prompty", "/files/team/"],
  ])("to a way out of the folder of %s are refused, or stay in it", async (_, base, folder) => {
    const sent: string[] = [];
    vi.stubGlobal("fetch", async (address: string) => (sent.push(new URL(address).href), new Response("x")));
    for (const way of WAYS_OUT) {
      const vfs = base.startsWith("http") ? undefined : anyFile(() => "x");
      const loading = loadPrompty(referring(way), { base, host: { vfs } });
      await loading.then(
        () => undefined,
        (error: Error) =>
          expect([way, error.name, error.message]).toEqual([
            way,
            "ValueError",
            expect.stringContaining("outside allowed roots"),
          ]),
      );
      sent.push(...(vfs?.read ?? []));
    }
    for (const place of sent) expect(place.startsWith(folder) && !/\.\./.test(place), place).toBe(true);
    expect(sent.length).toBeLessThan(WAYS_OUT.length / 4);
  });

  it("of a text without a path stay below the folder of the program", async () => {
    const vfs = anyFile(() => "x");
    for (const way of WAYS_OUT) await loadPrompty(referring(way), { host: { vfs } }).catch(() => {});
    expect(vfs.read.every((path) => !/^\/|\.\.|:/.test(path))).toBe(true);
    await loadPrompty(referring("a/b.txt"), { host: { vfs } });
    expect(vfs.read.at(-1)).toBe("a/b.txt");
  });

  it("are read at the place that was looked at", async () => {
    const vfs = { ...anyFile(() => "x"), realpath: (path: string) => path.replace("link", "real") };
    await loadPrompty(referring("link.txt"), { base: "/files/a.prompty", host: { vfs } });
    expect(vfs.read).toEqual(["/files/real.txt"]);
  });

  it("that lead to each other, or on and on, end in an error", async () => {
    const loop = anyFile((path) => (path.endsWith("a.json") ? '["${file:b.json}"]' : '["${file:a.json}"]'));
    await expect(
      loadPrompty(referring("a.json"), { base: "/f/x.prompty", host: { vfs: loop } }),
    ).rejects.toThrow("refers to itself");
    const endless = anyFile((path) => `["\${file:x${path.split("/").at(-1)}}"]`);
    await expect(
      loadPrompty(referring("a.json"), { base: "/f/x.prompty", host: { vfs: endless } }),
    ).rejects.toThrow(/more than 50 deep/);
    expect(endless.read.length).toBeLessThan(60);
  });

  it("in a tree are read a hundred times, whatever its width", async () => {
    const wide = anyFile(() =>
      JSON.stringify(Array.from({ length: 1000 }, (_, at) => `\${file:n${at}.txt}`)),
    );
    const loading = loadPrompty(referring("a.json"), { base: "/f/x.prompty", host: { vfs: wide } });
    await expect(loading).rejects.toThrow("/f/x.prompty refers to more than 100 files: split it");
    expect(wide.read).toHaveLength(100);
  });

  it("have at most four million characters together", async () => {
    const large = anyFile(() => "x".repeat(1_000_000));
    const metadata = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [at, `\${file:n${at}}`]));
    const loading = loadPrompty(file({ metadata }), { base: "/f/x.prompty", host: { vfs: large } });
    await expect(loading).rejects.toThrow("more than 4194304 characters");
    expect(large.read).toHaveLength(5);
    await expect(loadPrompty("x".repeat(5_000_000))).rejects.toThrow("more than 4194304 characters");
  });

  it("are asked for no longer than two minutes", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const slow = anyFile(() => (vi.setSystemTime(Date.now() + 50_000), "x"));
    const metadata = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [at, `\${file:n${at}}`]));
    const loading = loadPrompty(file({ metadata }), { base: "/f/x.prompty", host: { vfs: slow } });
    await expect(loading).rejects.toThrow("files that take more than 120000 ms");
    expect(slow.read).toHaveLength(3);
  });

  it("at an address that never answers are waited for a minute", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", () => new Promise(() => {}));
    let problem: unknown;
    const base = "https://prompts.test/team/a.prompty";
    loadPrompty(referring("a.txt"), { base }).catch((error: Error) => (problem = error.message));
    await vi.advanceTimersByTimeAsync(59_990);
    expect(problem).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20);
    expect(problem).toContain("has not answered to the end within 60000 ms");
  });

  it("to the environment see the values that the host gives, and no others", async () => {
    const host = { env: { KEY: "own" } };
    const { metadata } = await loadPrompty(file({ metadata: { a: "${env:KEY}" } }), { host });
    expect(metadata).toEqual({ a: "own" });
    for (const name of ["PATH", "constructor", "toString", "__proto__"])
      await expect(loadPrompty(file({ metadata: { a: `\${env:${name}}` } }), { host })).rejects.toThrow(
        `Environment variable '${name}' not set`,
      );
  });
});

describe("the frontmatter", () => {
  it.each([
    ["a value that holds itself twice", "a: &a [*a, *a]"],
    ["brackets", "a: " + "[".repeat(50_000)],
    ["dashes", "a:\n " + "- ".repeat(45_000) + "x"],
    ["quotation marks", "a: " + '"'.repeat(90_000)],
    ["anchors", "a: " + "&a ".repeat(30_000)],
    ["a name twice", "a: 1\na: 2"],
    ["more than it may have", "a: " + "x".repeat(100_000)],
  ])("of %s is an error that is short", async (_, yaml) => {
    const error = await loadPrompty(`---\n${yaml}\n---\nuser:\nHi`).then(
      () => expect.unreachable(),
      (error: Error) => error,
    );
    expect(error.name).toBe("ValueError");
    expect(error.message.length).toBeLessThan(200);
  });

  it("of many names is read in one pass", async () => {
    const names = Array.from({ length: 9000 }, (_, at) => `k${at}: 1`);
    const { metadata } = await loadPrompty(`---\nmetadata:\n  ${names.join("\n  ")}\n---\nuser:\nHi`);
    expect(Object.keys(metadata!)).toHaveLength(9000);
  });
});

describe("tools of kind prompty", () => {
  const withChild = (path: string) =>
    file({ tools: [{ name: "child", kind: "prompty", path, mode: "agentic" }] });

  it("are read from the folders of the files that lead to them", async () => {
    for (const way of WAYS_OUT) {
      const vfs = anyFile((path) => (path === "/f/team/a.prompty" ? withChild(way) : file({})));
      const fetch = scripted([{ text: "Done." }]);
      await turn("/f/team/a.prompty", {}, {}, { host: { vfs, fetch, apiKey: "k" } }).catch((error: Error) =>
        expect(error.message).toContain("outside allowed roots"),
      );
      for (const path of vfs.read) expect(path).toMatch(/^\/f\/team\/[^.]/);
    }
  });

  it("may lie in a folder that the host names", async () => {
    const vfs = anyFile((path) => (path === "/f/a.prompty" ? withChild("../shared/b.prompty") : file({})));
    const host = { vfs, fetch: scripted([{ text: "Done." }]), apiKey: "k", roots: ["/shared"] };
    expect(await turn("/f/a.prompty", {}, {}, { host })).toBe("Done.");
    expect(vfs.read).toEqual(["/f/a.prompty", "/shared/b.prompty"]);
  });

  it("run below eight files, and no deeper", async () => {
    const vfs = anyFile((path) => withChild(`x${path.split("/").at(-1)}`));
    const calls = Array.from({ length: 20 }, () => ({ toolCalls: [{ name: "child", input: {} }] }));
    const fetch = scripted([...calls.slice(0, 9), ...Array.from({ length: 20 }, () => ({ text: "Back." }))]);
    expect(await turn("/f/a.prompty", {}, {}, { host: { vfs, fetch, apiKey: "k" } })).toBe("Back.");
    expect(JSON.stringify(fetch.requests[9]!.body)).toContain("8 files lead to it already");
  });

  it("are fifty at most, for one file", async () => {
    const tools = Array.from({ length: 60 }, (_, at) => ({
      name: `t${at}`,
      kind: "prompty",
      path: `p${at}`,
    }));
    const vfs = anyFile((path) => (path === "/f/a.prompty" ? file({ tools }) : file({})));
    await expect(turn("/f/a.prompty", {}, {}, { host: { vfs } })).rejects.toThrow("more than 50 tools");
    expect(vfs.read).toHaveLength(51);
  });
});

describe("the connection of a file", () => {
  const asking = async (connection: object, host: object = {}, provider = "openai") => {
    const fetch = scripted([{ text: "Ok." }]);
    const agent = await loadPrompty(file({ model: { id: "m", provider, connection } }), {
      host: { env: { KEY: "of the host" } },
    });
    await run(agent, {}, { host: { fetch, apiKey: "host-key", ...host } });
    return fetch.requests.map(({ url }) => new URL(url).host);
  };

  it.each([
    "https://evil.test/v1",
    "https://api.openai.com.evil.test/v1",
    "https://api.openai.com@evil.test/v1",
    "http://api.openai.com/v1",
    "https://api.openai.com:8443/v1",
    "https://api.openai.com./v1",
    "//evil.test",
    "/v1",
    "data:text/plain,x",
  ])("that names %s is refused before anything is sent", async (endpoint) => {
    for (const connection of [
      { kind: "key", endpoint },
      { endpoint, apiKey: "${env:KEY}" },
    ])
      await expect(asking(connection)).rejects.toThrow(
        `The file names the endpoint ${endpoint.replace("api.openai.com@", "")}, which would get the key and the prompts. The provider's own is ` +
          "https://api.openai.com, and host.allowedEndpoints names nothing",
      );
  });

  it("may name the provider's own address, one that the host lists, and a registered one", async () => {
    expect(await asking({ endpoint: "https://api.openai.com/v1" })).toEqual(["api.openai.com"]);
    const allowedEndpoints = ["https://mine.test/models"];
    const below = { endpoint: "https://mine.test/models/v1" };
    expect(await asking(below, { allowedEndpoints })).toEqual(["mine.test"]);
    for (const way of ["../admin", "%2e%2e/admin", "..%2fadmin", "..%5cadmin", ".\t./admin", "..%252fadmin"])
      await expect(
        asking({ endpoint: `https://mine.test/models/${way}` }, { allowedEndpoints }),
        way,
      ).rejects.toThrow("The file names the endpoint");
    for (const endpoint of ["https://mine.test/models/../other", "https://mine.test/modelsother"])
      await expect(asking({ endpoint }, { allowedEndpoints })).rejects.toThrow(
        "host.allowedEndpoints names https://mine.test/models",
      );
    registerConnection("own", { endpoint: "https://own.test/v1", apiKey: "k" });
    expect(await asking({ kind: "reference", name: "own" })).toEqual(["own.test"]);
    clearConnections();
  });

  it("has a key of its own that comes before the host's, and is not shown to host.model", async () => {
    const connection = { kind: "key", apiKey: "file-key" };
    const agent = await loadPrompty(file({ model: { id: "m", provider: "openai", connection } }));
    const keys: (string | null)[] = [];
    const answer = scripted([{ text: "Ok." }]);
    const fetch = (url: string, init: any) => (
      keys.push(new Headers(init.headers).get("authorization")),
      answer(url, init)
    );
    const model = vi.fn(() => undefined);
    await run(agent, {}, { host: { fetch: fetch as never, apiKey: "host-key", model: model as never } });
    expect(keys).toEqual(["Bearer file-key"]);
    expect(model.mock.calls).toEqual([["m"]]);
  });

  it("is not asked again after it was refused", async () => {
    const agent = await loadPrompty(
      file({ model: { id: "m", connection: { endpoint: "https://evil.test" } } }),
    );
    const events: string[] = [];
    const onEvent = (type: string) => events.push(type);
    await expect(turn(agent, {}, {}, { onEvent, host: { apiKey: "k" } })).rejects.toMatchObject({
      name: "ValueError",
    });
    expect(events).not.toContain("retry");
  });

  it("P-09: a file without a model says so at once, and the host may choose one", async () => {
    const agent = await loadPrompty("user:\nHi");
    expect(agent.model).toEqual({ id: "", apiType: "chat" });
    await expect(turn(agent, {}, {}, { host: { apiKey: "k" } })).rejects.toThrow("The file names no model");
  });
});

describe("a path of a file", () => {
  it("is read as it is written, because the program gave it", async () => {
    const vfs = anyFile(() => file({}));
    await load("/anywhere/%2e/a.prompty", { host: { vfs } });
    expect(vfs.read).toEqual(["/anywhere/%2e/a.prompty"]);
  });
});

describe("the frontmatter's model", () => {
  it("chooses no header, and not where a key may be used", async () => {
    const fetch = scripted([{ text: "Ok." }]);
    const sent: Record<string, string>[] = [];
    const spy = (url: string, init: any) => (
      sent.push(Object.fromEntries(new Headers(init.headers))),
      fetch(url, init)
    );
    const options = {
      headers: { authorization: "Bearer of-the-file", "x-evil": "1" },
      dangerouslyAllowBrowser: true,
      authorize: "x",
      baseUrl: "https://evil.test",
      fetch: "x",
      temperature: 0.5,
    };
    const agent = await loadPrompty(file({ model: { id: "m", provider: "openai", options } }));
    await run(agent, {}, { host: { fetch: spy as never, apiKey: "host-key" } });
    expect(new URL(fetch.requests[0]!.url).host).toBe("api.openai.com");
    expect(fetch.requests[0]!.body).toMatchObject({ temperature: 0.5 });
    expect(JSON.stringify(sent)).toContain("host-key");
    expect(JSON.stringify(sent)).not.toMatch(/x-evil|of-the-file/);
  });

  it.each([
    [{ id: 4 }, "model.id needs a text"],
    [{ id: "m", provider: [] }, "model.provider needs a text"],
    [{ id: "m", connection: "x" }, "model.connection needs a mapping"],
    [{ id: "m", options: 5 }, "model.options needs a mapping"],
    [
      { id: "m", options: { additionalProperties: [] } },
      "model.options.additionalProperties needs a mapping",
    ],
  ])("%j is refused when it is read", async (model, problem) => {
    await expect(loadPrompty(file({ model }))).rejects.toThrow(`invalid frontmatter: ${problem}`);
  });

  it.each([
    [{ inputs: [{ name: "a", enumValues: {} }] }, "inputs[0].enumValues needs a list"],
    [{ inputs: [{ name: "a", items: { items: 5 } }] }, "inputs[0].items.items needs a mapping"],
    [{ outputs: [{ name: "a", description: [] }] }, "outputs[0].description needs a text"],
    [
      { tools: [{ name: "t", parameters: [{ name: "a", required: "no" }] }] },
      "tools[0].parameters[0].required needs true",
    ],
    [{ tools: [{ name: "t", path: 5 }] }, "tools[0].path needs a text"],
  ])("of %j the wrong field is named", async (frontmatter, problem) => {
    await expect(loadPrompty(file(frontmatter))).rejects.toThrow(`invalid frontmatter: ${problem}`);
  });

  it("may have empty fields, and a wrong number is not asked again", async () => {
    const { model } = await loadPrompty("---\nmodel:\n  id: m\n  options:\n  connection:\n---\nuser:\nHi");
    expect(model).toEqual({ id: "m", apiType: "chat" });
    const agent = await loadPrompty(file({ model: { id: "m", options: { temperature: "hot" } } }));
    const events: string[] = [];
    const onEvent = (type: string) => events.push(type);
    await expect(turn(agent, {}, {}, { onEvent, host: { apiKey: "k" } })).rejects.toMatchObject({
      name: "LoopletError",
    });
    expect(events).not.toContain("retry");
  });
});
