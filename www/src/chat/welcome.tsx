/** What an empty conversation shows: what this is, and first prompts, each of which a click asks. */

interface WelcomeProps {
  title: string;
  lead: string;
  prompts: readonly { readonly title: string; readonly prompt: string }[];
  isHidden: boolean;
  ask(prompt: string): void;
}

export function Welcome({ title, lead, prompts, isHidden, ask }: WelcomeProps) {
  return (
    <section className="welcome" id="welcome" aria-labelledby="welcome-title" hidden={isHidden}>
      <h2 id="welcome-title">{title}</h2>
      <p className="lead">{lead}</p>
      <ul className="suggestions">
        {prompts.map(({ title, prompt }) => (
          <li key={title}>
            <button type="button" onClick={() => ask(prompt)}>
              <strong>{title}</strong>
              <span>{prompt.replace("\n", " ")}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
