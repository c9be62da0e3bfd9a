/** The engine for one run: loaded with all that its models need, those that come later too. */
import type { Driver, LoadEngine, OpenRun } from "./engine.js";
import { LoopletError } from "./errors.js";
import type { ModelConfig } from "./models.js";
import { partOf, QUESTIONS } from "./parts.js";
import { refusal } from "./run-end.js";

export class Loading {
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

  /** Calls `use` when the model can be asked: at once where nothing is missing. `onFailure` gets why it will not be. */
  whenReady(model: ModelConfig, use: () => unknown, onFailure: (error: unknown) => void): void {
    if (this.load.lacks?.([partOf(model)])) void this.prepare(model).then(use).catch(onFailure);
    else use();
  }
}

/** @throws LoopletError for a model that the engine refuses */
export function setModel(driver: Driver | undefined, model: ModelConfig): void {
  try {
    driver?.setModel(model);
  } catch (error) {
    throw new LoopletError("config_invalid_value", "model", refusal(error).message);
  }
}
