// The licences of other people's code in the package: the crates in looplet.wasm with Rust's standard library, and
// the npm packages that are bundled into dist. The build writes their texts to dist/NOTICES.txt and the list to
// target/sbom.cdx.json, which a release publishes. `npm run check` compares the licences with a list.
// `cargo about` and `cargo deny` do this for crates only. Each would have to be compiled first on a clean clone,
// which takes more than three minutes on two cores.
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { SetupError, output, root } from "./lib/machine.mjs";

const require = createRequire(join(root, "package.json"));

/** What may be in the package: licences that ask for a notice and for nothing else. */
const allowed = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
];

/** The standard library is in the file too. Cargo does not list it. */
const std = (version) => ({
  name: "Rust's standard library",
  version,
  purl: `pkg:generic/rust-std@${version}`,
  license: "MIT OR Apache-2.0",
  authors: ["The Rust Project contributors"],
});

const bundledFile = join(root, "target/bundled.json");

/** Saves which packages of node_modules the bundle has, by the paths of its modules. */
export function saveBundled(moduleIds) {
  const names = moduleIds.map(
    (id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id.replaceAll("\\", "/"))?.[1],
  );
  const bundled = [...new Set(names.filter((name) => name !== undefined))].sort();
  writeFileSync(bundledFile, JSON.stringify(bundled));
}

/** Writes the notices of everything that is inside, and the software bill of materials. */
export function writeNotices({ rust, env }) {
  const parts = [
    ...cratesInside(env),
    std(rust.version),
    ...packages(JSON.parse(readFileSync(bundledFile, "utf8"))),
  ];
  const texts = parts.map((part) => `${titleOf(part)}\n\n${textOf(part)}\n`);
  const intro = "looplet contains code of these projects, under these licences.";
  writeFileSync(join(root, "dist/NOTICES.txt"), [`${intro}\n`, ...texts].join(`\n${"-".repeat(78)}\n\n`));
  writeFileSync(join(root, "target/sbom.cdx.json"), `${JSON.stringify(sbom(parts), null, 2)}\n`);
}

/** The parts as CycloneDX 1.6 has them: <https://cyclonedx.org/docs/1.6/json/>. */
function sbom(parts) {
  const { name, version, license } = readJson(join(root, "package.json"));
  const component = ({ name, version, license, purl, folder }) => {
    // A name with a scope is `%40scope/name` in a package URL.
    purl ??= `pkg:${existsSync(join(folder, "Cargo.toml")) ? "cargo" : "npm"}/${name.replace("@", "%40")}@${version}`;
    const licenses = [{ expression: license.replaceAll("/", " OR ") }];
    return { type: "library", "bom-ref": purl, name, version, purl, licenses };
  };
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: component({ name, version, license, folder: root, purl: `pkg:npm/${name}@${version}` }),
    },
    components: parts.map(component),
  };
}

/** Whether every crate and every npm package that a user gets has a licence of the list. Peers count too. */
export function checkLicences({ env }) {
  const satisfies = require("spdx-satisfies");
  const { dependencies = {}, peerDependencies = {} } = readJson(join(root, "package.json"));
  const bundled = JSON.parse(readFileSync(bundledFile, "utf8"));
  const names = new Set([...bundled, ...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  const parts = [...cratesInside(env), ...packages([...names])];
  const wrong = parts.filter(({ license }) => !license || !satisfies(license, allowed));
  for (const part of wrong) console.log(`  ${titleOf(part)} is not on the list of scripts/notices.mjs`);
  console.log(
    `${wrong.length === 0 ? "✓" : "✗"} licences: ${parts.length} crates and npm packages, ${wrong.length} not allowed`,
  );
  return wrong.length === 0;
}

/** The crates that are compiled into looplet.wasm. A macro or a build script runs on the builder's machine only. */
function cratesInside(env) {
  const args = [
    "metadata",
    "--format-version",
    "1",
    "--locked",
    "--filter-platform",
    "wasm32-unknown-unknown",
  ];
  const text = output("cargo", args, { cwd: root, env, maxBuffer: 64 << 20 });
  if (text === undefined) throw new SetupError("cargo metadata failed: does Cargo.lock fit Cargo.toml?");
  const { packages, resolve, workspace_members: own } = JSON.parse(text);
  const crates = new Map(packages.map((crate) => [crate.id, crate]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const inside = new Set();
  const visit = (id) => {
    if (inside.has(id) || crates.get(id).targets.some(({ kind }) => kind.includes("proc-macro"))) return;
    inside.add(id);
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps)
      if (kinds.some(({ kind }) => kind === null)) visit(pkg);
  };
  visit(resolve.root);
  return [...inside]
    .filter((id) => !own.includes(id))
    .map((id) => ({ ...crates.get(id), folder: dirname(crates.get(id).manifest_path) }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

const packages = (names) =>
  names.map((name) => {
    const folder = join(root, "node_modules", name);
    return { ...readJson(join(folder, "package.json")), folder };
  });

const titleOf = ({ name, version, license }) => `${name} ${version} (${license || "no licence"})`;

/** The texts of a part's licence, without Apache's where there is a choice; MIT's if the part has none. */
function textOf({ folder, authors, license, name }) {
  const files = folder ? licenceFiles(folder) : [];
  const short = files.filter((file) => !/apache/i.test(basename(file)));
  const texts = (short.length > 0 ? short : files).map((file) => readFileSync(file, "utf8").trim());
  if (texts.length > 0) return texts.join("\n\n");
  if (!/\bMIT\b/.test(license ?? "")) throw new SetupError(`${name} has no text of its licence ${license}.`);
  const own = readFileSync(join(root, "LICENSE"), "utf8").trim();
  return own.replace(/^Copyright .*$/m, `Copyright (c) ${authors?.join(", ") || `the authors of ${name}`}`);
}

function licenceFiles(folder) {
  return readdirSync(folder)
    .filter((name) => /^(licen[cs]es?|copying|notice|unlicense)\b/i.test(name))
    .map((name) => join(folder, name))
    .flatMap((path) =>
      statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path],
    );
}

const readJson = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});
