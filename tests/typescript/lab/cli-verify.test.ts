// `looplet verify --key`: the signatures of receipts, checked by the program.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createAgent, custom } from "looplet";
import { receipts, type Receipt } from "looplet/receipts";
import { recorder } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import { program } from "../../../src/cli/program.js";

let folder = "";
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "looplet-"))));
afterAll(() => rmSync(folder, { recursive: true }));

const keyPair = (): { publicKey: KeyObject; privateKey: KeyObject } => generateKeyPairSync("ed25519");

/** A recorded run with signed receipts, in files. */
async function recorded(privateKey: KeyObject): Promise<{ run: string; list: string; told: Receipt[] }> {
  const told: Receipt[] = [];
  const store = receipts(memoryStore(), {
    sign: (bytes) => new Uint8Array(sign(null, bytes, privateKey)),
    onReceipt: (receipt) => void told.push(receipt),
  });
  const run = createAgent({ model: custom(() => "hi"), store, record: recorder() }).run("Go.");
  await run.result;
  await run.saved();
  const [file, list] = [join(folder, "run.loop"), join(folder, "receipts.json")];
  writeFileSync(file, run.export());
  writeFileSync(list, JSON.stringify(told));
  return { run: file, list, told };
}

async function verified(...args: string[]): Promise<[status: number, text: string]> {
  let out = "";
  const add = (text: unknown): boolean => ((out += String(text)), true);
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation(add),
  );
  try {
    return [await program(["verify", ...args]), out];
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

it(
  "verify --key takes a key in each form, and refuses another one's signatures",
  { timeout: 60_000 },
  async () => {
    const { publicKey, privateKey } = keyPair();
    const { run, list, told } = await recorded(privateKey);
    const key = join(folder, "key");
    const der = publicKey.export({ type: "spki", format: "der" });
    const forms = [
      publicKey.export({ type: "spki", format: "pem" }) as string,
      JSON.stringify(publicKey.export({ format: "jwk" })),
      der.toString("base64"),
      der.subarray(-32).toString("base64"),
      der.subarray(-32).toString("hex"),
    ];
    for (const form of forms) {
      writeFileSync(key, form);
      expect(await verified(run, "--receipts", list, "--key", key), form).toEqual([
        0,
        expect.stringContaining("✓ signatures"),
      ]);
    }
    writeFileSync(key, keyPair().publicKey.export({ type: "spki", format: "pem" }));
    expect(await verified(run, "--receipts", list, "--key", key)).toEqual([
      1,
      expect.stringContaining("✗ signatures"),
    ]);
    writeFileSync(key, forms[0]!);
    writeFileSync(list, JSON.stringify(told.map(({ signature: _, ...receipt }) => receipt)));
    expect(await verified(run, "--receipts", list, "--key", key)).toEqual([
      1,
      expect.stringContaining("✗ signatures"),
    ]);
    writeFileSync(key, "no key");
    const [status, text] = await verified(run, "--receipts", list, "--key", key);
    expect([status, text]).toEqual([2, expect.stringContaining("is not a public key")]);
  },
);
