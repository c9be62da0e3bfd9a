/** The top of each tab: the tabs, the connection, and the buttons of the page. */
import { useEffect, useState, type ReactNode } from "react";
import type { Connection } from "../words/connection.js";
import { Icon, type IconName } from "./icon.js";

const tabs = [
  ["/", "Agent"],
  ["/query.html", "Query"],
  ["/screens.html", "Screens"],
] as const;

interface HeaderProps {
  tab: (typeof tabs)[number][1];
  connection?: { kind: Connection["kind"]; name: string; open(): void };
  /** The buttons of the page. */
  children?: ReactNode;
}

export function Header({ tab, connection, children }: HeaderProps) {
  return (
    <>
      <a className="skip" href="#prompt">
        Skip to the prompt
      </a>
      <header className="bar">
        <h1>
          looplet <span className="quiet">playground</span>
        </h1>
        <nav className="tabs" aria-label="Playgrounds">
          {tabs.map(([href, name]) => (
            <a key={name} href={href} aria-current={name === tab ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        {connection && (
          <button
            id="connection"
            className="pill"
            type="button"
            aria-haspopup="dialog"
            aria-label={`Connection: ${connection.name}`}
            onClick={connection.open}
          >
            <span className={`dot ${connection.kind}`} />
            <span className="label">{connection.name}</span>
          </button>
        )}
        <nav className="tools" aria-label="Page">
          {children}
          <Theme />
        </nav>
      </header>
    </>
  );
}

interface ToolProps {
  icon: IconName;
  name: string;
  click(): void;
  id?: string;
  opensDialog?: boolean;
  /** The panel that the button opens, and whether it is open. */
  panel?: { id: string; isOpen: boolean };
}

export function Tool({ icon, name, click, id, opensDialog, panel }: ToolProps) {
  return (
    <button
      type="button"
      className="ghost"
      id={id}
      aria-label={name}
      aria-haspopup={opensDialog ? "dialog" : undefined}
      aria-controls={panel?.id}
      aria-expanded={panel?.isOpen}
      onClick={click}
    >
      <Icon name={icon} />
      <span>{name}</span>
    </button>
  );
}

const themes = ["auto", "light", "dark"] as const;
const icons = { auto: "auto", light: "sun", dark: "moon" } as const;
const key = "looplet.theme";

/** Light, dark, or as the system says: a button that steps through the three and remembers the choice. */
function Theme() {
  const [theme, setTheme] = useState(
    () => themes.find((name) => name === localStorage.getItem(key)) ?? "auto",
  );
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  const step = () => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "auto";
    localStorage.setItem(key, next);
    setTheme(next);
  };
  const label = `Colours: ${theme}`;
  return (
    <button id="theme" className="ghost" type="button" aria-label={label} title={label} onClick={step}>
      <Icon name={icons[theme]} />
    </button>
  );
}
