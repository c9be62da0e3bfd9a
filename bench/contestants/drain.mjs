/**
 * The limit of the stream API: reads the chunks of every response, counts bytes, looks at nothing. Where bodies grow
 * from request to request it copies as many bytes out of a buffer for each, and nothing else of the loop.
 */
export const title = "drain";

export async function run(task, fetch) {
  let bytes = 0;
  const history = new Uint8Array(task.bodyBytes?.at(-1) ?? 0);
  for (let request = 0; request < task.requests; request += 1) {
    const body = history.slice(0, task.bodyBytes?.[request]);
    const response = await fetch("https://bench.invalid/", { method: "POST", body });
    const reader = response.body.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.length;
  }
  return { bytes };
}
