// A file plays to the events, requests, calls, questions and journal entries of its run, byte for byte, in all hosts.
import assert from "node:assert/strict";
import { copyFileSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { HOSTS } from "./hosts.mjs";
import { here, installPacked } from "./install.mjs";
import { recordedRuns, simulatedRuns } from "./recorded.mjs";

const wire = join(resolve(here, "../..", process.env.LOOPLET_SHARED ?? "../shared"), "wire");

/** Tests with each `every`-th recording of providers, and with the simulated runs of `seeds` seeds. */
export function testReplays(hosts, every, seeds) {
  const installed = {};
  before(async () => {
    Object.assign(installed, await installPacked());
    copyFileSync(join(here, "replayed.mjs"), join(installed.folder, "replayed.mjs"));
  });
  after(() => installed.remove?.());

  const sources = {
    "recordings of providers": {
      skip: !existsSync(wire) && `no recordings in ${wire}`,
      make: () => recordedRuns(wire, every),
    },
    "simulated runs": { make: () => simulatedRuns(seeds) },
  };
  for (const [source, { make, skip = false }] of Object.entries(sources)) {
    let runs;
    before(async () => (runs = skip ? [] : await make()));
    for (const host of hosts)
      test(
        `${host} plays ${source} to equal bytes`,
        { skip: skip || (!HOSTS[host] && `no ${host}`) },
        async (t) => {
          const files = runs.map(({ file }) => file).join("\n");
          const lines = (await HOSTS[host](installed.folder, "replayed.mjs", "replayed", files)).split("\n");
          assert.equal(lines.length, runs.length, lines.at(-1));
          for (const [at, run] of runs.entries()) {
            // The first host is Node, and its lines are those of all others.
            run.line ??= lines[at];
            assert.equal(lines[at], run.line, `file ${at}: ${run.file.slice(0, 500)}`);
            for (const own of run.own ?? [])
              assert.ok(
                lines[at].includes(own),
                `file ${at}: ${lines[at]} and not ${own}: ${run.file.slice(0, 500)}`,
              );
          }
          t.diagnostic(`${runs.length} files, ${runs.filter(({ own }) => own).length} beside their runs`);
        },
      );
  }
}
