// Finds or installs a Rust that can build wasm32 with panic=unwind, and says with which environment cargo is called.
// No toolchain ships a standard library for wasm32 whose panics unwind, so it is built here once from the library's
// sources (`rust-src` of rustup, `rust-web-src` of Debian); RUSTC_BOOTSTRAP=1 lets a stable compiler do so.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { SetupError, aptInstall, cache, output, runQuietly, step, versions, which } from "./machine.mjs";

const target = "wasm32-unknown-unknown";
// Node before 22.22 cannot load the new encoding of WebAssembly exceptions.
const unwindFlags = "-Cpanic=unwind -Cllvm-args=-wasm-use-legacy-eh";

/** The chosen toolchain `{ bin, version, key }`, installing one when `install` is set. Undefined if there is none. */
export async function findRust({ install = false } = {}) {
  const found =
    inspect(rustupBin()) ?? inspect("/usr/bin") ?? inspect(dirname(which("rustc") ?? "/nowhere/rustc"));
  if (found || !install) return found;
  if (which("rustup")) {
    await step("adding rust-src, clippy and rustfmt to rustup's active toolchain", () =>
      runQuietly("rustup", "rustup", ["component", "add", "rust-src", "clippy", "rustfmt"], {
        timeout: 300_000,
      }).catch((error) => console.log(`  not possible: ${error.message.split("\n").slice(-2).join(" ")}`)),
    );
    const added = inspect(rustupBin());
    if (added) return added;
  }
  if (await aptInstall("Rust", versions.apt.rust)) {
    const installed = inspect("/usr/bin");
    if (installed) return installed;
  }
  throw new SetupError(
    `No usable Rust. looplet needs rustc ${versions.rust} or newer with the sources of its standard library:\n` +
      "  with rustup:   rustup update stable && rustup component add rust-src clippy rustfmt\n" +
      `  on Debian:     apt-get install ${versions.apt.rust.join(" ")}`,
  );
}

function rustupBin() {
  const rustc =
    which("rustup") &&
    output("rustup", ["which", "rustc"], { env: { ...process.env, RUSTUP_AUTO_INSTALL: "0" } });
  return rustc ? dirname(rustc) : undefined;
}

function inspect(bin) {
  if (!bin || !["rustc", "cargo", "cargo-clippy", "rustfmt"].every((tool) => existsSync(join(bin, tool))))
    return undefined;
  const told = output(join(bin, "rustc"), ["-vV"]);
  const sysroot = output(join(bin, "rustc"), ["--print", "sysroot"]);
  const version = told?.match(/^release: (.+)$/m)?.[1];
  if (!version || !sysroot || !isAtLeast(version, versions.rust)) return undefined;
  if (!existsSync(join(sysroot, "lib/rustlib/src/rust/library/std/Cargo.toml"))) return undefined;
  const key = createHash("sha256").update(`${told}\n${unwindFlags}`).digest("hex").slice(0, 12);
  return { bin, sysroot, version, key: `${version}-${key}` };
}

function isAtLeast(version, minimum) {
  const [a, b] = [version, minimum].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return a[i] > b[i];
  return true;
}

const sysrootOf = (rust) => join(cache, `sysroot-${rust.key}`);
export const toolFolder = (name) => join(cache, `${name}-${versions[name]}`);

/** What is missing for `rust`, as work to do: `[what it is called, what makes it]`. */
export function missingRustTools(rust) {
  const jobs = [];
  if (!existsSync(sysrootOf(rust)))
    jobs.push([
      `building the wasm32 standard library with unwinding panics (Rust ${rust.version})`,
      () => buildSysroot(rust),
    ]);
  for (const name of ["wasm-bindgen-cli", "wasm-pack"])
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
  const args = ["build", "--release", "--target", target, "-Zbuild-std=std,panic_unwind,test"];
  const env = { ...cargoEnv(rust), ...buildStdEnv(rust), CARGO_TARGET_DIR: join(crate, "target") };
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
  const args = [
    "install",
    name,
    "--version",
    `=${versions[name]}`,
    "--debug",
    "--root",
    `${folder}.part`,
    "--target-dir",
    build,
  ];
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
  env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS = `--sysroot=${sysrootOf(rust)} ${unwindFlags}`;
  return env;
}

// A folder with the Rust tools alone: with all of /usr/bin first in PATH, another Node there would shadow the user's.
function linkedBin(rust) {
  if (process.platform === "win32") return rust.bin;
  const folder = join(cache, `rust-${rust.key}`);
  mkdirSync(folder, { recursive: true });
  for (const tool of ["cargo", "rustc", "rustdoc", "rustfmt", "cargo-fmt", "cargo-clippy", "clippy-driver"])
    if (!existsSync(join(folder, tool))) symlinkSync(join(rust.bin, tool), join(folder, tool));
  return folder;
}

// Nobody reads `{:?}` of a panic in the shipped file.
// The names tell trim-wasm.mjs whose a function is, its type parameters included.
const smallFlags = "-Zfmt-debug=none -Zlocation-detail=file,line -Csymbol-mangling-version=v0";

/**
 * On top of `cargoEnv`: std is built together with the crate, which fat LTO needs (the prebuilt one has no bitcode).
 * The paths in panic messages are shortened, so that the file does not tell where it was built. `small`: for the
 * shipped file, with less text in panic messages.
 */
export function buildStdEnv(rust, { small = false } = {}) {
  const cargoHome = process.env.CARGO_HOME || join(homedir(), ".cargo");
  const shortened = [
    `${join(rust.sysroot, "lib/rustlib/src/rust")}=/rust`,
    `${join(cargoHome, "registry/src")}=/crates`,
  ];
  const flags = [unwindFlags, ...shortened.map((pair) => `--remap-path-prefix=${pair}`)];
  if (small) flags.push(smallFlags);
  return { RUSTC_BOOTSTRAP: "1", CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: flags.join(" ") };
}
