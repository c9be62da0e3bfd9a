/** @jsxImportSource preact */
/** A step: the input that came, and everything that followed from it. */
import type { ReplayStep } from "../../../replay/playback.js";

export function Happening({ step }: { step: ReplayStep }) {
  const { input, events, calls, questions, entries, requests } = step;
  const told = input.input;
  const came =
    "json" in told
      ? JSON.stringify(told.json, null, 2)
      : "text" in told
        ? told.text.text
        : `${told.bytes.base64.length} characters of base64`;
  return (
    <>
      <h3>Input</h3>
      <pre tabIndex={0}>{came}</pre>
      <Items title="Events" items={events} name={({ type }) => type} />
      <Items
        title="Requests"
        items={requests.map(({ method, url }) => ({ method, url }))}
        name={({ url }) => url}
      />
      <Items title="Calls" items={calls} name={({ toolName }) => toolName} />
      <Items title="Questions" items={questions} name={({ point }) => point} />
      <Items title="Entries of the journal" items={entries} name={({ seq }) => `Entry ${seq}`} />
    </>
  );
}

interface ItemsProps<Item> {
  title: string;
  items: readonly Item[];
  name(item: Item): string;
}

/** A list whose items open to their JSON. */
function Items<Item>({ title, items, name }: ItemsProps<Item>) {
  if (items.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      {items.map((item, at) => (
        <details key={at}>
          <summary>{name(item)}</summary>
          <pre tabIndex={0}>{JSON.stringify(item, null, 2)}</pre>
        </details>
      ))}
    </>
  );
}
