// Patterns, flags and files with which a model or a stranger may try to hang the process.
import { expect, it } from "vitest";
import { anthropic, createAgent } from "looplet";
import { scripted } from "looplet/practice";
import { builtinTools, type ToolPorts } from "looplet/tools";
import { memoryVfs, type Vfs } from "looplet/vfs";
import { Pattern, Steps } from "../../../../src/typescript/extras/tools/pattern.js";

/** The results of these calls, made one after the other by an agent with the tools. */
async function called(ports: ToolPorts, ...calls: [name: string, input: object][]): Promise<string[]> {
  const fetch = scripted([
    ...calls.map(([name, input]) => ({ toolCalls: [{ name, input }] })),
    { text: "Done." },
  ]);
  const agent = createAgent({
    model: anthropic("m", { apiKey: "k", fetch }),
    tools: builtinTools(ports) as {},
    limits: { repeat: false },
    toolCalls: { maxResultChars: 4_000_000 },
  });
  const { toolCalls } = await agent.run("Go").result;
  return toolCalls.map(({ output }) =>
    typeof output === "object" && output !== null && "error" in output
      ? `${(output as any).code}: ${(output as any).message}`
      : String(output),
  );
}

const deep = `/${"a/".repeat(40)}${"a".repeat(60)}b`;

it("Glob answers whatever the pattern", async () => {
  const patterns = [
    "**/".repeat(12) + "x",
    "*a".repeat(14) + "c",
    "*a*".repeat(20) + "c",
    "{a,".repeat(20_000),
    "{a,".repeat(200) + "c" + "}".repeat(200),
    "{**/,*}".repeat(40) + "c",
    "[z-a]",
    "?".repeat(5000),
    "}{,}{",
  ];
  const said = await called(
    { vfs: memoryVfs({ [deep]: "" }) },
    ...patterns.map((pattern): [string, object] => ["Glob", { pattern }]),
  );
  expect(said.map((text) => text.split(":")[0])).toEqual([
    ...[
      "No file fits.",
      "No file fits.",
      "No file fits.",
      "invalid_pattern",
      "No file fits.",
      "No file fits.",
    ],
    ...["invalid_pattern", "invalid_pattern", "No file fits."],
  ]);
});

it("Grep answers whatever the pattern, and says what it does not support", async () => {
  const vfs = memoryVfs({ "/a": `${"a".repeat(30_000)}!\n${"x ".repeat(10_000)}\n` });
  const patterns = [
    "(a+)+$",
    "(a|aa)+$",
    "(a*)*b",
    "^(\\s*x\\s*)*y",
    "(?:a?){50}a{50}b",
    "(x+x+)+y",
    "a{1000}{1000}",
    "((a{0,60}){0,60}){0,60}",
    "(a)\\1",
    "a(?=!)",
    "(?<!x)a",
    "\\p{L}",
    "(".repeat(2000),
    "[",
  ];
  const said = await called(
    { vfs },
    ...patterns.map((pattern): [string, object] => ["Grep", { pattern, multiline: true }]),
    ...patterns.slice(0, 6).map((pattern): [string, object] => ["Grep", { pattern, "-i": true }]),
  );
  const codes = said.map((text) => text.split(":")[0]);
  const none = ["No match.", "No match.", "No match."];
  const invalid = Array.from({ length: 8 }, () => "invalid_pattern");
  expect(codes).toEqual([...none, ...none, ...invalid, ...none, ...none]);
  expect(said[8]).toMatch(/Patterns have no back references here/);
  expect(said[9]).toMatch(/Patterns have no lookaround and modifiers here/);
});

it("a pattern that takes too many steps ends its call", async () => {
  const vfs = memoryVfs({ "/a": `${"ab".repeat(400_000)}\n` });
  const [said] = await called({ vfs }, ["Grep", { pattern: "(?:[ab]{0,400}[ab]{0,400}){2}c" }]);
  expect(said).toMatch(/^too_much_work: The search takes too many steps\. Use a simpler pattern/);
});

it("matching takes steps in proportion to text and pattern", () => {
  const stepsOf = (pattern: Pattern, text: string): number => {
    let steps = 0;
    const counting = { take: (count: number) => ((steps += count), false) } as Steps;
    pattern.find(text, 0, text.length, counting).next();
    return steps;
  };
  for (const source of ["(a+)+b", "(a|aa)+b", "(a*)*b", "(?:a?){20}a{20}b", "([^]*,){9}b"]) {
    const [one, ten] = [1000, 10_000].map((length) => stepsOf(new Pattern(source), "a".repeat(length)));
    expect([source, ten! < one! * 11]).toEqual([source, true]);
  }
});

it("finds what the platform's expressions find", () => {
  const sources = [
    ..."a|ab|abc;abc|ab|a;(a|ab)(c|bcd);a*?b;a+?;x??y;(?:)a{2,3};a{2,3}?;a{2};[^a-c]+;\\w+\\b;\\Bb;^b;c$;.b.".split(
      ";",
    ),
    ..."[\\]a]+;[^];\\x61+;\\u0061;\\.;\\/;a{,2};{;a{x};];\\d\\D;(?<name>b)c;|a;a||b;(|a)+b;\\s+$;[-a]+;-;^$;(a*)+".split(
      ";",
    ),
  ];
  const texts = ["", "abc", "abcd\nab", "aaa bbb\r\nccc", "x{a,2}]-/.", "AbC aaaa", "\n\nb\n", "ü b\u2028b"];
  for (const source of sources)
    for (const text of texts)
      for (const flags of ["m", "mi", "ms"]) {
        const found = new RegExp(source, flags).exec(text);
        const expected = found === null ? undefined : [found.index, found.index + found[0].length];
        const pattern = new Pattern(source, { ignoreCase: flags === "mi", dotAll: flags === "ms" });
        const { value } = pattern.find(text, 0, text.length, new Steps(1e6)).next();
        expect([source, text, flags, value && [value.start, value.end]]).toEqual([
          source,
          text,
          flags,
          expected,
        ]);
      }
});

it("Grep shows no more than a result can hold, however many lines are asked for", async () => {
  const vfs = memoryVfs({
    "/hits": "hit\n".repeat(50_000),
    "/wide": `hit ${"y".repeat(100_000)}\n`,
    "/one": "a\nhit\nb\n",
  });
  const all = { pattern: "hit", output_mode: "content" };
  const [around, many, wide, limited] = await called(
    { vfs },
    ["Grep", { ...all, path: "/one", "-A": 1e9, "-B": 1e9 }],
    ["Grep", { ...all, "-C": 1e15, head_limit: 1e12 }],
    ["Grep", { ...all, path: "/wide" }],
    ["Grep", { ...all, path: "/hits", head_limit: 2 }],
  );
  expect(around).toBe("/one-1-a\n/one:2:hit\n/one-3-b");
  expect(many!.split("\n").length).toBeLessThan(10_010);
  expect(many).toMatch(/\(There may be more lines: search for less\.\)$/);
  expect(wide!.length).toBeLessThan(2100);
  expect(limited).toBe("/hits:1:hit\n/hits:2:hit");
});

it("Grep leaves files out that are too large, and says so", async () => {
  const base = memoryVfs({ "/a": "hit", "/b": "hit" });
  const read: string[] = [];
  const vfs: Vfs = {
    ...base,
    stat: async (path) => (path === "/a" ? { size: 1e10, mtimeMs: 0, isDirectory: false } : base.stat(path)),
    read: async (path) => (read.push(path), base.read(path)),
  };
  const [said] = await called({ vfs }, ["Grep", { pattern: "hit" }], ["Read", { file_path: "/a" }]);
  expect(said).toBe("/b\n(Files of more than 8388608 bytes were left out.)");
  expect(read).toEqual(["/b"]);
});

it("a search of files without end ends with its run, and without it", async () => {
  const names = Array.from({ length: 1000 }, (_, at) => `a${at}/`);
  const endless: Vfs = {
    ...memoryVfs(),
    stat: async () => ({ size: 1, mtimeMs: 0, isDirectory: true }),
    list: async () => names,
  };
  const [said] = await called({ vfs: endless }, ["Glob", { pattern: "x" }]);
  expect(said).toMatch(/^No file fits\.\n\(Only the first 100000 names were looked at/);
  const abort = new AbortController();
  let looks = 0;
  const watched: Vfs = {
    ...endless,
    list: async () => {
      if ((looks += 1) === 3) setTimeout(() => abort.abort(), 0);
      return names;
    },
  };
  const fetch = scripted([{ toolCalls: [{ name: "Grep", input: { pattern: "x" } }] }]);
  const agent = createAgent({
    model: anthropic("m", { apiKey: "k", fetch }),
    tools: builtinTools({ vfs: watched }) as {},
  });
  const { outcome } = await agent.run("Go", { signal: abort.signal }).result;
  await new Promise((next) => setTimeout(next, 0));
  const after = looks;
  await new Promise((next) => setTimeout(next, 0));
  expect([outcome, looks === after, looks < 100]).toEqual(["cancelled", true, true]);
});

it("Edit finds its text in time, whatever the text and the file", async () => {
  const half = "a".repeat(250_000);
  const vfs = memoryVfs({ "/file": half.repeat(4) });
  const [said] = await called({ vfs }, [
    "Edit",
    { file_path: "/file", old_string: `${half}b${half}`, new_string: "" },
  ]);
  expect(said).toMatch(/^not_found/);
});

it.each([
  ["aXbXc", "X", "-"],
  ["aaaaa", "aa", "b"],
  ["abababab", "abab", ""],
  ["aabaaabaaab", "aabaaab", "x"],
  ["end", "end", "start"],
])("Edit of %s replaces %s as a person would", async (before, old_string, new_string) => {
  const vfs = memoryVfs({ "/file": before });
  await called({ vfs }, ["Edit", { file_path: "/file", old_string, new_string, replace_all: true }]);
  expect(new TextDecoder().decode(await vfs.read("/file"))).toBe(before.split(old_string).join(new_string));
});

it("Edit makes no file that is larger than a file may be", async () => {
  const vfs = memoryVfs({ "/a": "a".repeat(100_000) });
  const input = { file_path: "/a", old_string: "a", new_string: "b".repeat(1000), replace_all: true };
  const [said] = await called({ vfs }, ["Edit", input]);
  expect(said).toMatch(/^too_large: /);
  expect((await vfs.read("/a"))!.length).toBe(100_000);
});
