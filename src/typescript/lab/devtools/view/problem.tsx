/** @jsxImportSource preact */
/** What went wrong, told at once to who cannot see it; nothing if all is well. */
export function Problem({ text }: { text: string | undefined }) {
  if (text === undefined || text === "") return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
