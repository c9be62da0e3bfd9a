/** Files of a browser that another tab replaces while they are read. */
import { expect, it } from "vitest";
import { opfsVfs } from "looplet/vfs";

/** A folder with one file, which is replaced so often while it is read. */
function folder(replaced: number): any {
  let reads = 0;
  const arrayBuffer = async (): Promise<ArrayBuffer> => {
    if (reads++ < replaced)
      throw new DOMException("The requested file could not be read", "NotReadableError");
    return new TextEncoder().encode("whole").buffer as ArrayBuffer;
  };
  return { getFileHandle: async () => ({ getFile: async () => ({ arrayBuffer }) }) };
}

it("a file that is replaced while it is read is read again", async () => {
  const read = await opfsVfs(folder(3)).read("/a.txt");
  expect(new TextDecoder().decode(read)).toBe("whole");
});

it("a file that cannot be read fails", async () => {
  await expect(opfsVfs(folder(Infinity)).read("/a.txt")).rejects.toThrow("could not be read");
});
