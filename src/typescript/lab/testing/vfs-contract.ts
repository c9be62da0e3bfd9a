/** The contract of a {@link Vfs}, for any test framework. */
import type { Vfs } from "../../extras/vfs/index.js";

/** Rules by their names. A rule gets an empty folder. */
interface Cases {
  readonly [name: string]: (vfs: Vfs, folder: string) => Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const textOf = (data: Uint8Array | undefined): string | undefined => data && new TextDecoder().decode(data);

function expectEqual(what: string, found: unknown, wanted: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what} gave ${one} and not ${other}`);
}

const CASES: Cases = {
  async "what is not there is undefined, an empty list, and removed without an error"(vfs, folder) {
    expectEqual("read", await vfs.read(`${folder}/a`), undefined);
    expectEqual("stat", await vfs.stat(`${folder}/a`), undefined);
    expectEqual("list", await vfs.list(`${folder}/a`), []);
    await vfs.remove(`${folder}/a`);
    await vfs.remove(`${folder}/a/b`);
  },
  async "a file comes back unchanged, and a second write replaces it"(vfs, folder) {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    await vfs.write(`${folder}/deep/er/ä b.bin`, all);
    expectEqual("read", [...((await vfs.read(`${folder}/deep/er/ä b.bin`)) ?? [])], [...all]);
    await vfs.write(`${folder}/deep/er/ä b.bin`, bytes("Ä"));
    expectEqual("read", textOf(await vfs.read(`${folder}/deep/er/ä b.bin`)), "Ä");
    await vfs.write(`${folder}/empty`, new Uint8Array());
    expectEqual("read of an empty file", (await vfs.read(`${folder}/empty`))?.length, 0);
  },
  async "stat tells files from folders, with the size and the time of a file"(vfs, folder) {
    await vfs.write(`${folder}/a/b.txt`, bytes("Ä"));
    const file = await vfs.stat(`${folder}/a/b.txt`);
    expectEqual("stat of a file", { ...file, mtimeMs: 0 }, { size: 2, mtimeMs: 0, isDirectory: false });
    if (!(file!.mtimeMs > 0)) throw new Error("mtimeMs of a file is not its time in milliseconds");
    expectEqual("stat of a folder", (await vfs.stat(`${folder}/a`))?.isDirectory, true);
    expectEqual("stat of /", (await vfs.stat("/"))?.isDirectory, true);
    expectEqual("read of a folder", await vfs.read(`${folder}/a`), undefined);
  },
  async "list has the names in one folder, sorted, those of folders with a /"(vfs, folder) {
    for (const path of ["b", "a/c", "a/d/e", "ab"]) await vfs.write(`${folder}/${path}`, bytes(path));
    await vfs.mkdir(`${folder}/made/by hand`);
    expectEqual("list", await vfs.list(folder), ["a/", "ab", "b", "made/"]);
    expectEqual("list of a folder in it", await vfs.list(`${folder}/a`), ["c", "d/"]);
    expectEqual("list of a made folder", await vfs.list(`${folder}/made`), ["by hand/"]);
    expectEqual("stat of a made folder", (await vfs.stat(`${folder}/made/by hand`))?.isDirectory, true);
  },
  async "remove takes a folder with all that is in it, and nothing beside it"(vfs, folder) {
    for (const path of ["a/b", "a/c/d", "ab"]) await vfs.write(`${folder}/${path}`, bytes(path));
    await vfs.remove(`${folder}/a`);
    expectEqual("list", await vfs.list(folder), ["ab"]);
  },
  async "rename moves a file or a whole folder, and makes the folders on its way"(vfs, folder) {
    for (const path of ["a/b", "a/c/d", "ab"]) await vfs.write(`${folder}/${path}`, bytes(path));
    await vfs.rename(`${folder}/ab`, `${folder}/new/name`);
    await vfs.rename(`${folder}/a`, `${folder}/new/a`);
    expectEqual("list", await vfs.list(folder), ["new/"]);
    expectEqual("read", textOf(await vfs.read(`${folder}/new/name`)), "ab");
    expectEqual("read", textOf(await vfs.read(`${folder}/new/a/c/d`)), "a/c/d");
  },
};

/**
 * Checks your `Vfs` in a separate folder, which is removed at the end. Returns the names of the rules that it has
 * passed.
 *
 * @beta
 *
 * @throws Error that lists each broken rule
 */
export async function checkVfs(vfs: Vfs): Promise<readonly string[]> {
  const root = `/check-${Math.random().toString(36).slice(2)}`;
  const broken: string[] = [];
  for (const [at, [name, check]] of Object.entries(CASES).entries()) {
    try {
      await check(vfs, `${root}/${at}`);
    } catch (error) {
      broken.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  await vfs.remove(root);
  if (broken.length > 0) throw new Error(`The files break their contract.\n${broken.join("\n")}`);
  return Object.keys(CASES);
}
