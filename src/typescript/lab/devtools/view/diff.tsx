/** @jsxImportSource preact */
/** A diff of `textDiff`, with its lines coloured. */
export function Diff({ text }: { text: string }) {
  return (
    <pre class="diff" tabIndex={0}>
      {text.split("\n").map((line, at) => (
        <span key={at} class={line.startsWith("+ ") ? "come" : line.startsWith("- ") ? "gone" : ""}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
