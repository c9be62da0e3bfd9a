/** @jsxImportSource preact */
/** An error, announced immediately to screen readers. Shows nothing without an error. */
export function Problem({ text }: { text: string | undefined }) {
  if (text === undefined || text === "") return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
