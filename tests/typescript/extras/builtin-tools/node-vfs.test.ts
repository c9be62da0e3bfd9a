// Links, odd names and odd files below a folder of the disk.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { nodeVfs } from "looplet/vfs/node";
import { flawOfName } from "../../../../src/typescript/extras/vfs/paths.js";

const disk = mkdtempSync(join(tmpdir(), "looplet-links-"));
afterAll(() => rmSync(disk, { recursive: true }));

let roots = 0;
/** A folder `root` with a file, and the folder `outside` beside it. */
function made() {
  const place = join(disk, String(++roots));
  const [root, outside] = [join(place, "root"), join(place, "outside")];
  for (const folder of [join(root, "src"), outside]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, "src/a.ts"), "a");
  writeFileSync(join(outside, "secret"), "no");
  return { root, outside, vfs: nodeVfs(root) };
}

const bytes = (said: string) => new TextEncoder().encode(said);

it("writes nothing outside of its root through a link to a file that is not there yet", async () => {
  const { root, outside, vfs } = made();
  symlinkSync(join(outside, "new"), join(root, "absolute"));
  symlinkSync("../../../outside/new", join(root, "src/relative"));
  symlinkSync("src/relative", join(root, "chain"));
  symlinkSync("chain", join(root, "longer"));
  symlinkSync(join(outside, "folder"), join(root, "folder"));
  for (const path of [
    "/absolute",
    "/src/relative",
    "/chain",
    "/longer",
    "/folder/a",
    "/src/../chain",
    "/chain/",
  ])
    await expect(vfs.write(path, bytes("x")), path).rejects.toThrow(/is a link that leads out of the files/);
  for (const path of ["/folder", "/folder/deep"])
    await expect(vfs.mkdir(path), path).rejects.toThrow(/is a link that leads out of the files/);
  await expect(vfs.rename("/src/a.ts", "/folder/a.ts")).rejects.toThrow(/is a link/);
  await expect(vfs.rename("/src/a.ts", "/absolute")).rejects.toThrow(/is a link/);
  await expect(vfs.rename("/absolute", "/src/b")).rejects.toThrow(/is a link/);
  expect(readdirSync(outside)).toEqual(["secret"]);
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("a");
});

it("follows no link inside of its root either, and says where it leads", async () => {
  const { root, vfs } = made();
  mkdirSync(join(root, ".claude"));
  symlinkSync("../.claude", join(root, "src/settings"));
  symlinkSync("a.ts", join(root, "src/b.ts"));
  symlinkSync("loop", join(root, "loop"));
  await expect(vfs.write("/src/settings/settings.json", bytes("{}"))).rejects.toThrow(
    "The path /src/settings is a link to /.claude. Links are not followed: use that path.",
  );
  await expect(vfs.read("/src/b.ts")).rejects.toThrow(/is a link to \/src\/a\.ts\./);
  await expect(vfs.stat("/src/b.ts")).rejects.toThrow(/is a link to/);
  await expect(vfs.list("/src/settings")).rejects.toThrow(/is a link to/);
  await expect(vfs.read("/loop")).rejects.toThrow(/leads out of the files, or to nothing/);
  expect(await vfs.list("/src")).toEqual(["a.ts"]);
  expect(existsSync(join(root, ".claude/settings.json"))).toBe(false);
});

it("removes a folder without what its links lead to", async () => {
  const { root, outside, vfs } = made();
  symlinkSync(outside, join(root, "src/out"));
  await expect(vfs.remove("/src/out")).rejects.toThrow(/is a link/);
  await expect(vfs.remove("/src/out/secret")).rejects.toThrow(/is a link/);
  await vfs.remove("/src");
  expect([await vfs.list("/"), readdirSync(outside)]).toEqual([[], ["secret"]]);
  await expect(vfs.remove("/")).rejects.toThrow(/the folder of all files/);
});

it.runIf(process.platform === "linux")("writes nothing outside while links come and go", async () => {
  const { root, outside, vfs } = made();
  const [folder, aside] = [join(root, "src"), join(root, "aside")];
  const putLink = (): void => {
    try {
      symlinkSync(outside, folder);
    } catch {
      // The write has made the folder anew.
      rmSync(folder, { recursive: true });
      putLink();
    }
  };
  for (let turn = 0; turn < 60; turn += 1) {
    const writing = vfs.write("/src/new", bytes("x")).catch(() => undefined);
    for (let at = 0; at < turn % 6; at += 1) await new Promise((next) => setImmediate(next));
    renameSync(folder, aside);
    putLink();
    await writing;
    rmSync(folder);
    renameSync(aside, folder);
  }
  expect(readdirSync(outside)).toEqual(["secret"]);
});

it.runIf(process.platform === "linux")(
  "reads and writes no file of a link that comes in its place",
  async () => {
    const { root, outside, vfs } = made();
    const [file, link] = [join(root, "src/a.ts"), join(root, "link")];
    const seen: string[] = [];
    for (let turn = 0; turn < 300; turn += 1) {
      const reading = vfs.read("/src/a.ts").catch(() => undefined);
      const writing = vfs.write("/src/a.ts", bytes("x")).catch(() => undefined);
      for (let at = 0; at < turn % 30; at += 1) await new Promise((next) => setImmediate(next));
      symlinkSync(join(outside, "secret"), link);
      renameSync(link, file);
      const data = await reading;
      if (data !== undefined) seen.push(new TextDecoder().decode(data));
      await writing;
      rmSync(file);
      writeFileSync(file, "a");
    }
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).not.toContain("no");
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("no");
  },
);

it("reads and writes files alone, and no pipe keeps it waiting", async () => {
  const { root, vfs } = made();
  if (process.platform !== "win32") {
    execFileSync("mkfifo", [join(root, "pipe")]);
    await expect(vfs.read("/pipe")).rejects.toThrow(/a pipe or a device/);
    await expect(vfs.write("/pipe", bytes("x"))).rejects.toThrow();
    expect(await vfs.list("/")).toEqual(["src/"]);
  }
  expect(await vfs.read("/src")).toBeUndefined();
  expect(await vfs.read("/src/a.ts/b")).toBeUndefined();
  await expect(vfs.write("/src", bytes("x"))).rejects.toThrow();
  await expect(vfs.write("/src/a.ts/b", bytes("x"))).rejects.toThrow();
});

it("refuses names that a system reads as other ones", async () => {
  const { vfs } = made();
  for (const path of ["/a\0b", "/src/a.ts\0.png"])
    for (const act of [vfs.read(path), vfs.write(path, bytes("x")), vfs.list(path), vfs.stat(path)])
      await expect(act).rejects.toThrow(/a zero byte/);
  await expect(vfs.read("/../a")).rejects.toThrow(/leads out/);
  const odd = [
    "..\\x",
    "C:",
    "a:stream",
    "a.",
    "a ",
    "con",
    "NUL.txt",
    "com1",
    "LPT¹.x",
    "CONIN$",
    "CLAUDE~1",
  ];
  for (const name of odd) expect([name, flawOfName(name, true) !== undefined]).toEqual([name, true]);
  for (const name of odd) expect(flawOfName(name, false)).toBeUndefined();
  for (const name of ["a", ".a", "console", "com", "a b"]) expect(flawOfName(name, true)).toBeUndefined();
});
