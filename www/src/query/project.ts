/** The files that the agent works on: a small project in memory, of which the page sees every change. */
import { memoryVfs, type Vfs } from "looplet/vfs";

const files = {
  "/shop/CLAUDE.md": "Prices are whole cents. Keep functions short.\n",
  "/shop/src/cart.ts": `export interface Item {
  name: string;
  cents: number;
  count: number;
}

/** The price of all items, in cents. */
export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.cents, 0);
}
`,
  "/shop/src/cart.test.ts": `import { total } from "./cart";

test("the total counts each piece", () => {
  const items = [{ name: "kettle", cents: 2000, count: 2 }];
  expect(total(items)).toBe(4000); // it is 2000
});
`,
  "/shop/README.md": "# Shop\n\nA cart that knows its total.\n",
};

export const folder = "/shop";

/** A project as it was at first. `changed` is called after each change of a file. */
export function project(changed: (path: string) => void): Vfs {
  const vfs = memoryVfs(files);
  return {
    ...vfs,
    async write(path, data) {
      await vfs.write(path, data);
      changed(path);
    },
    async remove(path) {
      await vfs.remove(path);
      changed(path);
    },
    async rename(from, to) {
      await vfs.rename(from, to);
      changed(from);
      changed(to);
    },
  };
}

/** The paths of all files below a folder, in alphabetical order. */
export async function pathsBelow(vfs: Vfs, path: string): Promise<string[]> {
  const names = [...(await vfs.list(path))].sort();
  const below = names.map((name) =>
    name.endsWith("/") ? pathsBelow(vfs, `${path}/${name.slice(0, -1)}`) : [`${path}/${name}`],
  );
  return (await Promise.all(below)).flat();
}

export async function textOf(vfs: Vfs, path: string): Promise<string | undefined> {
  const bytes = await vfs.read(path);
  return bytes && new TextDecoder().decode(bytes);
}
