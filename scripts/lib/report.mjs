// Runs the parts of a test suite one after the other, counts what their runners say, and ends with one line.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { installPacked } from "../../tests/package/install.mjs";
import { SetupError, isCi, root, run } from "./machine.mjs";

/** A part that this machine cannot run. */
export const skipped = (why) => ({ skipped: why });

/** What one or several finished commands of `run(…, { capture: true })` amount to. */
export function ran(...runs) {
  const { failed, ...counts } = sum(...runs.map(({ text }) => countTests(text)));
  const broken = runs.some(({ code }) => code !== 0);
  // A command that fails without a failed test (it does not compile, the browser crashes) counts as one.
  return { ...counts, failed: broken && failed === 0 ? 1 : failed };
}

/** What several parts amount to that have run. */
export function sum(...counts) {
  const total = (key) => counts.reduce((before, count) => before + count[key], 0);
  return { passed: total("passed"), failed: total("failed"), left: total("left") };
}

/** The shell's tests by wasm-pack, in the browser that the arguments name: the command for a developer in a clone. */
export function wasmTests(env, ...browser) {
  return run("wasm-pack", ["test", "--headless", ...browser], {
    env: { ...env, WASM_BINDGEN_TEST_TIMEOUT: "180" },
    capture: true,
  });
}

/**
 * Runs a folder of `*.test.mjs` with Node's own test runner. A test or file that takes longer than `minutes`, or
 * leaves something open at its end, is a failure with a name, and not the silence of a whole CI run.
 */
export async function nodeTest(node, folder, env, minutes = 10) {
  const files = existsSync(join(root, folder))
    ? readdirSync(join(root, folder)).filter((name) => name.endsWith(".test.mjs"))
    : [];
  if (files.length === 0) return skipped(`there are no tests in ${folder}`);
  const args = [
    "--test",
    "--test-concurrency=1",
    `--test-timeout=${minutes * 60_000}`,
    "--test-force-exit",
    "--test-reporter=spec",
    ...files.map((name) => join(folder, name)),
  ];
  return ran(await run(node, args, { capture: true, env: { ...process.env, ...env } }));
}

/** `nodeTest` of files that use the packed package, which is packed and installed once for all of them. */
export async function packageTest(node, folder, env, minutes) {
  const installed = await installPacked();
  try {
    return await nodeTest(node, folder, { ...env, LOOPLET_INSTALLED: installed.folder }, minutes);
  } finally {
    installed.remove();
  }
}

function countTests(text) {
  const plain = text.replace(/\x1b\[[0-9;]*m/g, "");
  const sum = (pattern) => [...plain.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0);
  // A test of cargo cannot skip itself: it prints this line and passes.
  const skippedByCargo = (plain.match(/\bSKIPPED [^:\n]+: no /g) ?? []).length;
  return {
    // cargo and wasm-bindgen, Vitest, node --test
    passed:
      sum(/^test result: .* (\d+) passed;/gm) -
      skippedByCargo +
      sum(/^\s*Tests .*?(\d+) passed/gm) +
      sum(/^(?:ℹ|#) pass (\d+)$/gm),
    failed:
      sum(/^test result: .* (\d+) failed;/gm) +
      sum(/^\s*Tests .*?(\d+) failed/gm) +
      sum(/^(?:ℹ|#) fail (\d+)$/gm),
    // Tests that were skipped because something is missing, and those that were deferred.
    left:
      skippedByCargo +
      sum(/^\s*Tests .*?(\d+) skipped/gm) +
      sum(/^\s*Tests .*?(\d+) todo/gm) +
      sum(/^(?:ℹ|#) (?:skipped|todo) (\d+)$/gm),
  };
}

/**
 * In CI a skipped part is a failure, and so is a part with skipped tests. `LOOPLET_SHARED=none` says that the machine
 * has none of the files that belong to others: then skipped tests are only named.
 */
export class Report {
  #parts = [];
  #inCi;
  #hasShared;

  constructor({ inCi = isCi, hasShared = process.env.LOOPLET_SHARED !== "none" } = {}) {
    this.#inCi = inCi;
    this.#hasShared = hasShared;
  }

  /** Runs a part and prints its line. A part that throws has failed. */
  async part(name, work) {
    const startedMs = Date.now();
    console.log(`\n── ${name}`);
    const result = await Promise.resolve()
      .then(work)
      .catch(
        (error) => (
          console.error(error instanceof SetupError ? error.message : error),
          { passed: 0, failed: 1 }
        ),
      );
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
    this.#parts.push({ name, ...result });
    console.log(
      `── ${name}: ${result.skipped ? `SKIPPED, ${result.skipped}` : `${result.passed} passed, ${result.failed} failed${result.left ? `, ${result.left} skipped` : ""}`} (${seconds} s)`,
    );
  }

  /** Prints the totals as the last line and sets the exit code. */
  end() {
    const sum = (key) => this.#parts.reduce((total, part) => total + (part[key] ?? 0), 0);
    const fails = (part) => this.#inCi && (part.skipped || this.#hasShared);
    const skips = this.#parts
      .filter((part) => part.skipped || part.left)
      .map((part) => {
        const what = part.skipped ? `${part.name} (${part.skipped})` : `${part.left} tests of ${part.name}`;
        return { what: fails(part) ? `${what}, a failure in CI` : what, fails: fails(part) };
      });
    const failed = sum("failed") + skips.filter((skip) => skip.fails).length;
    process.exitCode = failed > 0 ? 1 : 0;
    const note = skips.length ? `, SKIPPED: ${skips.map(({ what }) => what).join(", ")}` : "";
    console.log(`\n${sum("passed")} passed, ${failed} failed${note}`);
  }
}
