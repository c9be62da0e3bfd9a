// A failure as a sentence for users.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { failureText } from "looplet/ui";

it("has a sentence for every code of a failure, without names for developers", () => {
  const page = readFileSync(new URL("../../../docs/tasks/errors.md", import.meta.url), "utf8");
  const failures = page.slice(page.indexOf("\n## Failures"), page.indexOf("\n## Configuration and calls"));
  const codes = [...failures.matchAll(/^### (\w+)$/gm)].map(([, code]) => code!);
  expect(codes.length).toBeGreaterThan(20);
  for (const code of codes) {
    const text = failureText({ code, message: "vendor m: HTTP 500 at https://a.test" });
    expect(text, code).toMatch(/^[A-Z].*\.$/);
    expect(text, code).not.toMatch(/_|https?:/);
    if (code !== "bug") expect(text, code).not.toContain("Something went wrong");
  }
});

it("says when another attempt makes sense", () => {
  expect(failureText({ code: "rate_limit", retryAfterMs: 2100 })).toMatch(/Next try in 3 seconds\.$/);
  expect(failureText({ code: "overloaded", retryAfterMs: 90_000 })).toMatch(/Next try in 2 minutes\.$/);
  expect(failureText({ code: "rate_limit" })).toMatch(/Try again in a moment\.$/);
});

it("takes other texts by code, as a text, a function, or a default", () => {
  const texts = {
    auth: "Bitte neu anmelden.",
    rate_limit: ({ retryAfterMs = 0 }) => `Warte ${retryAfterMs} ms.`,
    default: "Das ging nicht.",
  };
  expect(failureText({ code: "auth" }, texts)).toBe("Bitte neu anmelden.");
  expect(failureText({ code: "rate_limit", retryAfterMs: 5 }, texts)).toBe("Warte 5 ms.");
  expect(failureText(new Error("x"), texts)).toBe("Das ging nicht.");
  for (const odd of [null, undefined, "x", { code: "constructor" }])
    expect(failureText(odd)).toBe("Something went wrong. Try again.");
});
