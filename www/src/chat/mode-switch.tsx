/** The switch between the permission modes. */
import { modes, type Mode } from "../words/permission.js";
import { Icon } from "./icon.js";

export function ModeSwitch({ mode, change }: { mode: Mode; change(mode: Mode): void }) {
  return (
    <label className="mode-switch" title={modes[mode].title} data-mode={mode}>
      <Icon name="shield" />
      <select aria-label="Permissions" value={mode} onChange={({ target }) => change(target.value as Mode)}>
        {Object.entries(modes).map(([value, { label, title }]) => (
          <option key={value} value={value} title={title}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
