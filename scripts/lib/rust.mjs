// Finds or installs a Rust that can build for wasm32, and says with which environment cargo is called. In this order:
// a toolchain that has the target, or to which rustup adds it; one with the sources of the standard library
// (`rust-src` of rustup, `rust-web-src` of Debian), which are built once, with bitcode for fat LTO. Nothing of it
// needs root but Debian's.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { SetupError, aptInstall, cache, output, runQuietly, step, versions, which } from "./machine.mjs";

const target = "wasm32-unknown-unknown";
const stdFlags = "-Cembed-bitcode=yes";

/**
 * The chosen toolchain `{ bin, version, key, hasTarget }`. Installs one when `install` is set. Undefined if there is
 * none.
 */
export async function findRust({ install = false } = {}) {
  const find = () =>
    inspect(rustupBin()) ?? inspect("/usr/bin") ?? inspect(dirname(which("rustc") ?? "/nowhere/rustc"));
  let found = find();
  if (!install || found?.hasTarget || (found && existsSync(sysrootOf(found)))) return found;
  if (which("rustup")) {
    await rustup(`adding ${target} to rustup's active toolchain`, "target", "add", target);
    found = find();
    if (!found) await rustup("adding its sources", "component", "add", "rust-src");
  }
  found = find();
  if (!found && (await aptInstall("Rust", versions.apt.rust))) found = inspect("/usr/bin");
  if (found) return found;
  throw new SetupError(
    `No usable Rust. looplet needs rustc ${versions.rust} or newer that can build for wasm32:\n` +
      `  with rustup:   rustup update stable && rustup target add ${target}\n` +
      `  on Debian:     apt-get install ${versions.apt.rust.join(" ")}`,
  );
}

function rustup(what, ...args) {
  return step(what, () =>
    runQuietly("rustup", "rustup", args, { timeout: 60_000 }).catch((error) =>
      console.log(`  not possible: ${error.message.split("\n").slice(-2).join(" ")}`),
    ),
  );
}

function rustupBin() {
  const rustc =
    which("rustup") &&
    output("rustup", ["which", "rustc"], { env: { ...process.env, RUSTUP_AUTO_INSTALL: "0" } });
  return rustc ? dirname(rustc) : undefined;
}

function inspect(bin) {
  if (!bin || !["rustc", "cargo"].every((tool) => existsSync(join(bin, tool)))) return undefined;
  const told = output(join(bin, "rustc"), ["-vV"]);
  const sysroot = output(join(bin, "rustc"), ["--print", "sysroot"]);
  const version = told?.match(/^release: (.+)$/m)?.[1];
  if (!version || !sysroot || !isAtLeast(version, versions.rust)) return undefined;
  // Debian's own package for the target has no bitcode.
  const hasTarget = bin !== "/usr/bin" && existsSync(join(sysroot, "lib/rustlib", target, "lib"));
  if (!hasTarget && !existsSync(join(sysroot, "lib/rustlib/src/rust/library/std/Cargo.toml")))
    return undefined;
  const key = createHash("sha256").update(`${told}\n${stdFlags}`).digest("hex").slice(0, 12);
  return { bin, sysroot, version, hasTarget, key: `${version}-${key}` };
}

function isAtLeast(version, minimum) {
  const [a, b] = [version, minimum].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return a[i] > b[i];
  return true;
}

const sysrootOf = (rust) => join(cache, `sysroot-${rust.key}`);
export const toolFolder = (name) => join(cache, `${name}-${versions[name]}`);

/** clippy and rustfmt are not needed to build: they are asked for by the commands that call them. */
export async function needLinters(rust) {
  const has = () => ["cargo-clippy", "rustfmt"].every((tool) => existsSync(join(rust.bin, tool)));
  if (!has() && which("rustup"))
    await rustup("adding clippy and rustfmt", "component", "add", "clippy", "rustfmt");
  if (!has() && rust.bin === "/usr/bin") await aptInstall("clippy and rustfmt", versions.apt.linters);
  if (!has())
    throw new SetupError("This Rust has no clippy or no rustfmt: rustup component add clippy rustfmt");
}

/** What is missing for `rust`, as work to do: `[what it is called, what makes it]`. `tools`: of the crates registry. */
export function missingRustTools(rust, tools) {
  const jobs = [];
  if (!rust.hasTarget && !existsSync(sysrootOf(rust)))
    jobs.push([
      `building the standard library for wasm32 once, because the toolchain has none (Rust ${rust.version})`,
      () => buildSysroot(rust),
    ]);
  for (const name of tools)
    if (!existsSync(toolFolder(name)))
      jobs.push([
        `installing ${name} ${versions[name]} from the crates registry`,
        () => cargoInstall(rust, name),
      ]);
  return jobs;
}

async function buildSysroot(rust) {
  const crate = join(cache, "std-build");
  const sysroot = sysrootOf(rust);
  const rlibs = join(`${sysroot}.part`, "lib/rustlib", target, "lib");
  for (const folder of [crate, `${sysroot}.part`]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(crate, "src"), { recursive: true });
  mkdirSync(rlibs, { recursive: true });
  writeFileSync(
    join(crate, "Cargo.toml"),
    '[package]\nname = "std_build"\nversion = "0.0.0"\nedition = "2021"\n\n[workspace]\n',
  );
  writeFileSync(join(crate, "src/lib.rs"), "");
  const args = ["build", "--release", "--target", target, "-Zbuild-std=std,panic_abort,test"];
  const env = {
    ...cargoEnv(rust),
    RUSTC_BOOTSTRAP: "1",
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: `${stdFlags} ${shortPaths(rust)}`,
    CARGO_TARGET_DIR: join(crate, "target"),
  };
  await runQuietly("the build of std", join(rust.bin, "cargo"), args, { cwd: crate, env });
  const built = join(crate, "target", target, "release/deps");
  for (const file of readdirSync(built))
    if (file.endsWith(".rlib") && !file.startsWith("libstd_build"))
      cpSync(join(built, file), join(rlibs, file));
  renameSync(`${sysroot}.part`, sysroot);
  rmSync(crate, { recursive: true, force: true });
}

// Without --locked: an index that lags behind the crate's lock file must not fail the install. Debug build without
// debug info: a third of the time, and these tools are fast enough.
export async function cargoInstall(rust, name) {
  const folder = toolFolder(name);
  const build = join(cache, `${name}-build`);
  rmSync(`${folder}.part`, { recursive: true, force: true });
  const args = ["install", name, "--version", `=${versions[name]}`, "--debug"];
  args.push("--root", `${folder}.part`, "--target-dir", build);
  const env = { ...cargoEnv(rust), CARGO_PROFILE_DEV_DEBUG: "0" };
  await runQuietly(`cargo install ${name}`, join(rust.bin, "cargo"), args, { cwd: cache, env });
  renameSync(`${folder}.part`, folder);
  rmSync(build, { recursive: true, force: true });
}

/**
 * The environment for every cargo command, native or wasm32: the toolchain and the tools first in PATH, and the
 * flags of wasm32 in a variable of that target alone, so that native builds are not rebuilt by a change of it.
 */
export function cargoEnv(rust) {
  const env = { ...process.env };
  // Each of these would silently override the flags of the target.
  for (const name of ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTUP_TOOLCHAIN"])
    delete env[name];
  const tools = ["wasm-bindgen-cli", "wasm-pack"].map((name) => join(toolFolder(name), "bin"));
  env.PATH = [...tools, linkedBin(rust), process.env.PATH].join(delimiter);
  const sysroot = rust.hasTarget ? "" : `--sysroot=${sysrootOf(rust)} `;
  env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS = sysroot + shortPaths(rust);
  return env;
}

// A folder with the Rust tools alone: with all of /usr/bin first in PATH, another Node there would shadow the user's.
function linkedBin(rust) {
  if (process.platform === "win32") return rust.bin;
  const folder = join(cache, `rust-${rust.key}`);
  mkdirSync(folder, { recursive: true });
  for (const tool of ["cargo", "rustc", "rustdoc", "rustfmt", "cargo-fmt", "cargo-clippy", "clippy-driver"])
    if (!existsSync(join(folder, tool)) && existsSync(join(rust.bin, tool)))
      symlinkSync(join(rust.bin, tool), join(folder, tool));
  return folder;
}

/** The file must not contain its build path. */
function shortPaths(rust) {
  const cargoHome = process.env.CARGO_HOME || join(homedir(), ".cargo");
  const pairs = [
    `${join(rust.sysroot, "lib/rustlib/src/rust")}=/rust`,
    `${join(cargoHome, "registry/src")}=/crates`,
  ];
  return pairs.map((pair) => `--remap-path-prefix=${pair}`).join(" ");
}
