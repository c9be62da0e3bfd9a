// npm run release: the package for npm and the two crates, from a clean clone of the last commit.
//   npm run release -- prepare 0.2.0   a version bump with its entry in the change log, to look at and commit
//   npm run release -- --dry-run       all but the upload; the files with their checksums are in target/release-files
//   npm run release -- --publish       the same, and the upload
// `repository` in package.json is the one field to fill in before: "github:owner/name".
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { SetupError, fail, output, root, run, step } from "./lib/machine.mjs";
import { writeStandalone } from "./lib/standalone.mjs";
import { setup } from "./setup.mjs";

const files = join(root, "target/release-files");
const clone = join(root, "target/release-clone");
const read = (name) => readFileSync(join(root, name), "utf8");
// The clone is in another folder, so its tests would look for the files of others in another place.
const given = process.env.LOOPLET_SHARED ?? "../shared";
const shared = existsSync(resolve(root, given)) ? resolve(root, given) : "none";
const crates = ["-p", "looplet-scan", "-p", "looplet"];
const unpublished = "## Not published yet";

async function main() {
  const [mode, version] = process.argv.slice(2);
  if (mode === "prepare") return prepare(version);
  if (mode !== "--dry-run" && mode !== "--publish")
    throw new SetupError("Say `prepare VERSION`, `--dry-run` or `--publish`.");
  const missing = whatIsMissing();
  for (const what of missing) console.log(`✗ ${what}`);
  if (mode === "--publish" && missing.length > 0) throw new SetupError("Nothing was published.");
  await make(await setup());
  if (missing.length > 0)
    console.log(`\nAll parts are good. Publishing would be refused:\n${missing.join("\n")}`);
  else if (mode === "--publish") await publish();
  else console.log("\nAll parts are good. `npm run release -- --publish` uploads them.");
}

/** What stands in the way of a release that tests cannot find. */
function whatIsMissing() {
  const { repository, version } = JSON.parse(read("package.json"));
  const [, ofCrates] = /^version = "(.*)"/m.exec(read("Cargo.toml"));
  const address = addressOf(repository);
  return [
    !address && "`repository` in package.json is not set. Write the address there, then run `prepare`.",
    address &&
      !read("Cargo.toml").includes(`repository = "${address}"`) &&
      "Cargo.toml has another `repository`: run `prepare`.",
    ofCrates !== version && `package.json is ${version}, Cargo.toml is ${ofCrates}: run \`prepare\`.`,
    !read("CHANGELOG.md").includes(`\n## ${version} `) &&
      `CHANGELOG.md has no entry for ${version}: run \`prepare\`.`,
    output("git", ["status", "--porcelain"], { cwd: root }) !== "" &&
      "There are changes that are not committed.",
  ].filter(Boolean);
}

function addressOf(repository) {
  const text = typeof repository === "string" ? repository : repository?.url;
  return text?.replace(/^github:/, "https://github.com/").replace(/^git\+|\.git$/g, "");
}

/** Builds, checks, packs and tries everything in a clone, which has nothing that the repository lacks. */
async function make({ env }) {
  for (const folder of [clone, files]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(files, { recursive: true });
  const { CARGO_TARGET_DIR: _, ...ownTarget } = env;
  const within = async (command, ...args) => {
    const { code } = await run(command, args, {
      cwd: clone,
      env: { ...ownTarget, CI: "true", LOOPLET_SHARED: shared },
    });
    if (code !== 0) throw new SetupError(`In a clean clone this fails: ${command} ${args.join(" ")}`);
  };
  const trial = ["publish", "--dry-run", ...crates];
  await step("a clean clone", () => run("git", ["clone", "--quiet", root, clone]));
  await step("the package: build and checks", () => within("npm", "run", "check"));
  await step("the crates: build, native", () => within("cargo", ...trial));
  await step("the crates: build, wasm32, the engine only", () =>
    within("cargo", ...trial, "--target", "wasm32-unknown-unknown", "--no-default-features"),
  );
  // Installed from the tarball on Node, Deno, workerd, Vercel's Edge Runtime and in Chromium; then on Bun and others.
  await step("the package as a stranger has it", () => within("npm", "test", "--", "package"));
  await step("the package in more hosts", () => within("npm", "run", "test:long", "--", "hosts"));
  await step("the files", async () => {
    await within("npm", "pack", "--ignore-scripts", "--pack-destination", files);
    const packed = join(clone, "target/package");
    for (const name of readdirSync(packed).filter((name) => name.endsWith(".crate")))
      cpSync(join(packed, name), join(files, name));
    const maps = readdirSync(join(clone, "dist"), { recursive: true }).filter((name) =>
      name.endsWith(".map"),
    );
    await within("tar", "-czf", join(files, "source-maps.tgz"), "-C", "dist", ...maps);
    await writeStandalone(clone, join(files, "looplet.standalone.js"));
    for (const file of ["target/sbom.cdx.json", "dist/NOTICES.txt"])
      cpSync(join(clone, file), join(files, basename(file)));
    const sums = readdirSync(files).map((name) => {
      const hash = createHash("sha256").update(readFileSync(join(files, name)));
      return `${hash.digest("hex")}  ${name}\n`;
    });
    writeFileSync(join(files, "SHA256SUMS"), sums.join(""));
    console.log(sums.join("").trimEnd());
  });
}

/** The same bytes that were tried. */
async function publish() {
  const tarball = readdirSync(files).find((name) => name.startsWith("looplet-") && name.endsWith(".tgz"));
  const uploads = [
    ["cargo", ["publish", ...crates]],
    ["npm", ["publish", join(files, tarball), "--provenance", "--access", "public"]],
  ];
  for (const [command, args] of uploads)
    if ((await run(command, args, { cwd: clone })).code !== 0)
      throw new SetupError(`${command} publish failed.`);
}

/** Writes the version and the address into every file that has them, and dates the entry of the change log. */
async function prepare(version) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? ""))
    throw new SetupError("Which version? `prepare 0.2.0`");
  const log = read("CHANGELOG.md");
  const [, entry = ""] = log.split(unpublished);
  if (entry.split("\n## ")[0].trim() === "")
    throw new SetupError(`CHANGELOG.md says nothing under "${unpublished}".`);
  const today = new Date().toISOString().slice(0, 10);
  const dated = log.replace(unpublished, `${unpublished}\n\n## ${version} (${today})`);
  const { env } = await setup();
  writeFileSync(join(root, "CHANGELOG.md"), dated);
  const npm = ["version", version, "--no-git-tag-version", "--allow-same-version"];
  const address = addressOf(JSON.parse(read("package.json")).repository);
  const withAddress = (text) => {
    const without = text.replace(/^repository\b.*\n/gm, "");
    if (!address) return without;
    return without
      .replace(/^license = .*\n/m, (line) => `${line}repository = "${address}"\n`)
      .replace(/^license\.workspace = true\n/m, (line) => `${line}repository.workspace = true\n`);
  };
  const manifest = withAddress(read("Cargo.toml"))
    .replace(/^(version = )".*"/m, `$1"${version}"`)
    .replace(/(looplet-scan = .*version = )"=.*?"/, `$1"=${version}"`);
  writeFileSync(join(root, "Cargo.toml"), manifest);
  writeFileSync(join(root, "crates/scan/Cargo.toml"), withAddress(read("crates/scan/Cargo.toml")));
  for (const [command, ...args] of [
    ["npm", ...npm],
    ["cargo", "update", "--workspace"],
    ["cargo", "update", "--manifest-path", "fuzz/Cargo.toml", ...crates],
    // The version is in the generated tables.
    ["npm", "run", "format"],
  ])
    if ((await run(command, args, { env })).code !== 0)
      throw new SetupError(`${command} ${args.join(" ")} failed.`);
  console.log(
    `\nLook at \`git diff\`, commit it as "Release ${version}", then run \`npm run release -- --dry-run\`.`,
  );
}

await main().catch(fail);
