/** The engine for one run: loaded with all that its models need, those that come later too. */
import type { Driver, LoadEngine, OpenRun } from "./engine.js";
import { LoopletError } from "./errors.js";
import type { ModelConfig } from "./models.js";
import { partOf, QUESTIONS } from "./parts.js";
import { refusal } from "./run-end.js";

export class Loading {
  constructor(
    private readonly load: LoadEngine,
    /** Grows with the run's models. */
    private readonly needed: ReadonlySet<string>,
  ) {}

  /** The engine; rejects when something cannot be loaded. */
  async open(): Promise<OpenRun> {
    for (;;) {
      const { size } = this.needed;
      const open = await this.load(this.needed);
      if (this.needed.size === size) return open;
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
