// What samples show to users when something fails: a sentence of `failureText`, never the `message` of the failure,
// which is for developers and logs.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../../", import.meta.url).pathname;

/** The code of a sample: a file, or the blocks of code of a page of the docs. */
function codeOf(path: string): string {
  const text = readFileSync(root + path, "utf8");
  if (!path.endsWith(".md")) return text;
  return [...text.matchAll(/^```(?:js|ts|tsx|jsx|html)\b[^\n]*\n([\s\S]*?)^```/gm)]
    .map(([, code]) => code)
    .join("\n");
}

/** Lines that may show the `message` of a failure, each for its reason. */
const allowed: readonly RegExp[] = [
  // For developers: logs, and the answer to a request that is not valid.
  /console\.\w+\(/,
  /^\s*(return )?(Response\.json|response\.end|JSON)\b.*error: error\.message.*/,
  /^\s*message: /,
  // `ai` makes an error of the text that `onError` has returned.
  /"code" in (chat\.)?error \? failureText\((chat\.)?error\) : (chat\.)?error\.message/,
  // What a tool reports.
  /event\.type === "tool-error"/,
];

/** Programs of a terminal, whose user is the developer. */
const terminal = ["examples/once.mjs", "examples/screen.mjs"];
/** The playground shows the details of a failure below its sentence. */
const details = ["www/src/words/failure.ts", "www/src/chat/approval.tsx", "www/src/chat/tool-card.tsx"];

/** The paths of all files in a folder. */
function filesIn(folder: string): string[] {
  return readdirSync(root + folder, { recursive: true }).map((path) => `${folder}/${String(path)}`);
}

const samples = [
  "README.md",
  ...filesIn("docs").filter((path) => path.endsWith(".md")),
  ...[...filesIn("examples"), ...filesIn("www/src")].filter((path) =>
    /\.(js|mjs|ts|tsx|jsx|html)$/.test(path),
  ),
].filter((path) => !path.includes("node_modules") && ![...terminal, ...details].includes(path));

/** Lines that take the `message` of something that failed. */
function shown(code: string): string[] {
  return code
    .split("\n")
    .filter((line) => /\b(error|failure|thrown|cause)\b\)?\??\.message\b/.test(line))
    .filter((line) => !allowed.some((pattern) => pattern.test(line)))
    .map((line) => line.trim());
}

describe("a sample that shows failures to users", () => {
  it("is found by this test", () => {
    expect(samples.length).toBeGreaterThan(60);
    expect(shown('state.textContent = error?.message ?? "";')).toHaveLength(1);
    expect(shown("<p>{chat.error.message}</p>")).toHaveLength(1);
    expect(shown("console.error(error.message);")).toEqual([]);
  });

  it.each(samples)("%s shows sentences of failureText", (path) => {
    expect(shown(codeOf(path))).toEqual([]);
  });
});
