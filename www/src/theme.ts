/** Light, dark, or as the system says: a button that steps through the three and remembers the choice. */
import { icon } from "./icon.js";

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const icons = { auto: "auto", light: "sun", dark: "moon" } as const;
const key = "looplet.theme";

export function setUpTheme(button: HTMLButtonElement): void {
  let theme: Theme = themes.find((name) => name === localStorage.getItem(key)) ?? "auto";
  const apply = () => {
    document.documentElement.dataset["theme"] = theme;
    button.replaceChildren(icon(icons[theme]));
    button.setAttribute("aria-label", `Colours: ${theme}`);
    button.title = `Colours: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "auto";
    localStorage.setItem(key, theme);
    apply();
  });
  apply();
}
