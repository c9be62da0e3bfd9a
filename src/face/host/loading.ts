/** The engine for one run: loaded with all that its models need, those that come later too. */
import type { Driver, LoadEngine, OpenRun } from "../run/engine.js";
import { LoopletError } from "../api/errors.js";
import type { ModelConfig } from "../models/models.js";
import { partOf, partsOfMode, QUESTIONS } from "../parts.js";
import type { PermissionMode } from "../api/permission.js";
import { PERMISSION_MODES } from "../options/permissions.js";
import { refusal } from "./failures.js";

export class Loading {
  readonly #latest: { model?: () => unknown; mode?: () => unknown } = {};

  constructor(
    private readonly load: LoadEngine,
    /** What the agent's own models need. */
    private readonly needed: ReadonlySet<string>,
  ) {}

  /**
   * The engine; rejects when something cannot be loaded. `later`: the model that the run has been given since it was
   * begun, and only the last of them matters.
   */
  async open(later: () => ModelConfig | undefined): Promise<OpenRun> {
    for (;;) {
      const model = later();
      try {
        const open = await this.load(model === undefined ? this.needed : [...this.needed, partOf(model)]);
        if (later() === model) return open;
      } catch (error) {
        if (later() === model) throw error;
      }
    }
  }

  /** Whether the engine takes answers; if not, no run has a question open. */
  mayAnswer(): boolean {
    return !this.load.lacks?.([QUESTIONS]);
  }

  /** Loads what a model needs that comes later; other models' parts may be missing. */
  async prepare(model: ModelConfig): Promise<void> {
    await this.load([partOf(model)]);
  }

  /** As {@link setModel}, when the engine can speak to the model. `onFailure` gets why it will not be asked. */
  switchModel(
    model: ModelConfig,
    driver: () => Driver | undefined,
    onFailure: (error: unknown) => void,
  ): void {
    this.#whenReady("model", [partOf(model)], () => setModel(driver(), model), onFailure);
  }

  /** Sets the permission mode, when the engine can follow it. `onFailure` gets why it will not. */
  switchMode(mode: PermissionMode, driver: Driver, onFailure: (error: unknown) => void): void {
    const set = (): void => driver.setMode(PERMISSION_MODES.indexOf(mode));
    this.#whenReady("mode", partsOfMode(mode), set, onFailure);
  }

  /** At once where nothing is missing, and not if there was a later switch of the same meanwhile. */
  #whenReady(
    what: "model" | "mode",
    parts: readonly string[],
    use: () => void,
    onFailure: (error: unknown) => void,
  ): void {
    this.#latest[what] = use;
    const useLatest = (): unknown => this.#latest[what] === use && use();
    if (this.load.lacks?.(parts)) void this.load(parts).then(useLatest).catch(onFailure);
    else use();
  }
}

/** @throws LoopletError for a model that the engine refuses */
function setModel(driver: Driver | undefined, model: ModelConfig): void {
  try {
    driver?.setModel(model);
  } catch (error) {
    throw new LoopletError("config_invalid_value", "model", refusal(error).message);
  }
}
