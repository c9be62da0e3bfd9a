// npm run fuzz: every fuzz target for some minutes, two at a time, with limits; prints how many inputs each has seen.
//   npm run fuzz -- --minutes 60 sse run    these targets, an hour each; 10 minutes and all of them unless told so
//   npm run fuzz -- --seeds                 only: keeps the few inputs that cover most in fuzz/seeds, which `npm test` replays
// libFuzzer's own compiler flags need RUSTC_BOOTSTRAP=1 on a stable Rust. No sanitizer: the engine has no unsafe
// code, and without one a target runs twice as fast.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { availableParallelism, setPriority } from "node:os";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { SetupError, fail, output, root, run, step, versions, withCacheLock } from "./lib/machine.mjs";
import { cargoInstall, toolFolder } from "./lib/rust.mjs";
import { setup } from "./setup.mjs";

const limits = ["-rss_limit_mb=2048", "-timeout=20", "-max_len=4096"];
const atOnce = 2;
const seedFiles = 48;
const seedBytes = 20_000;
const folder = join(root, "fuzz");

async function main() {
  const words = process.argv.slice(2);
  const at = words.indexOf("--minutes");
  const minutes = at < 0 ? 10 : Number(words.splice(at, 2)[1]);
  if (!(minutes > 0)) throw new SetupError("--minutes needs a number above 0.");
  const onlySeeds = words.includes("--seeds");
  const named = words.filter((word) => word !== "--seeds");
  const targets = chosen(named);
  const { rust, env } = await setup();
  if (!existsSync(toolFolder("cargo-fuzz")))
    await withCacheLock(() =>
      step(`installing cargo-fuzz ${versions["cargo-fuzz"]} from the crates registry`, () =>
        cargoInstall(rust, "cargo-fuzz"),
      ),
    );
  const cargoFuzz = join(toolFolder("cargo-fuzz"), "bin/cargo-fuzz");
  // Without a name cargo-fuzz builds every target, which takes minutes.
  for (const target of named.length === 0 ? [""] : targets) {
    const one = ["fuzz", "build", "--sanitizer", "none", ...[target].filter(Boolean)];
    const built = await run(cargoFuzz, one, { env: { ...env, RUSTC_BOOTSTRAP: "1" } });
    if (built.code !== 0)
      throw new SetupError(
        `${target ? `The fuzz target ${target} does` : "The fuzz targets do"} not compile.`,
      );
  }
  const host = output(join(rust.bin, "rustc"), ["-vV"]).match(/^host: (.+)$/m)[1];
  const machine = { programs: join(folder, "target", host, "release"), minutes };
  const waiting = [...targets];
  const done = [];
  const work = async () => {
    for (let target; (target = waiting.shift());)
      done.push(onlySeeds ? await keepSeeds(machine, target) : await fuzz(machine, target));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, availableParallelism()) }, work));
  if (onlySeeds) return;
  console.log("\ntarget            executions    a second   result");
  for (const { target, executions, seconds, code } of done)
    console.log(
      `${target.padEnd(16)} ${String(executions).padStart(11)} ${String(Math.round(executions / seconds)).padStart(11)}   ` +
        (code === 0 ? "nothing found" : `exit code ${code}: see fuzz/artifacts/${target}`),
    );
  if (done.some(({ code }) => code !== 0)) process.exitCode = 1;
}

function chosen(names) {
  const all = readdirSync(join(folder, "fuzz_targets")).map((name) => name.replace(/\.rs$/, ""));
  const unknown = names.find((name) => !all.includes(name));
  if (unknown)
    throw new SetupError(`There is no fuzz target "${unknown}". Targets: ${all.sort().join(", ")}.`);
  return names.length ? names : all;
}

/** The folders of inputs of a target: the fuzzer's corpus, the saved seeds, and our fixtures, if it has any. */
function inputs(target) {
  const corpus = join(folder, "corpus", target);
  mkdirSync(corpus, { recursive: true });
  return [corpus, join(folder, "seeds", target), join(root, "tests/fixtures", target)].filter(existsSync);
}

async function fuzz({ programs, minutes }, target) {
  const artifacts = join(folder, "artifacts", target);
  mkdirSync(artifacts, { recursive: true });
  console.log(`• ${target}, for ${minutes} minutes …`);
  const seconds = Math.round(minutes * 60);
  const { code, text } = await quiet(join(programs, target), [
    `-max_total_time=${seconds}`,
    ...limits,
    `-dict=${join(folder, "dictionary")}`,
    `-artifact_prefix=${artifacts}/`,
    "-print_final_stats=1",
    ...inputs(target),
  ]);
  const executions = Number(text.match(/number_of_executed_units: (\d+)/)?.[1] ?? 0);
  console.log(`  ${target}: ${executions} executions${code === 0 ? "" : `\n${text.slice(-4000)}`}`);
  return { target, executions, seconds, code };
}

/** The smallest inputs that together reach what all reach, and of those as many as the repository has room for. */
async function keepSeeds({ programs }, target) {
  const merged = join(folder, "corpus", `${target}.merged`);
  rmSync(merged, { recursive: true, force: true });
  mkdirSync(merged, { recursive: true });
  const merging = ["-set_cover_merge=1", "-max_len=1024", merged, ...inputs(target)];
  const { code, text } = await quiet(join(programs, target), merging);
  if (code !== 0) throw new SetupError(`${target} cannot be merged:\n${text.slice(-2000)}`);
  const size = (name) => statSync(join(merged, name)).size;
  const found = readdirSync(merged).sort((a, b) => size(a) - size(b) || (a < b ? -1 : 1));
  const every = Math.max(1, found.length / seedFiles);
  const seeds = join(folder, "seeds", target);
  const written = readdirSync(seeds).filter((name) => /^[0-9a-f]{40}$/.test(name));
  for (const name of written) rmSync(join(seeds, name));
  let bytes = 0;
  for (let at = 0; at < found.length; at += every) {
    const name = found[Math.floor(at)];
    bytes += size(name);
    if (bytes > seedBytes) break;
    copyFileSync(join(merged, name), join(seeds, name));
  }
  rmSync(merged, { recursive: true });
  console.log(`  ${target}: ${found.length} inputs reach everything; ${readdirSync(seeds).length} kept`);
}

/** Below everything else on this machine; its output is read, not shown. */
function quiet(program, args) {
  return new Promise((resolve) => {
    const options = { cwd: folder, maxBuffer: Infinity };
    const child = execFile(program, args, options, (error, out, err) =>
      resolve({ code: error ? (error.code ?? 1) : 0, text: (out + err).slice(-20_000) }),
    );
    if (child.pid) setPriority(child.pid, 15);
  });
}

await main().catch(fail);
