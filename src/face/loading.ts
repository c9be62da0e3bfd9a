/** The engine for one run: loaded with all that its models need, those that come later too. */
import type { Driver, LoadEngine, OpenRun } from "./engine.js";
import { LoopletError } from "./errors.js";
import type { ModelConfig } from "./models.js";
import { QUESTIONS } from "./parts.js";
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

  /** Calls `use` when everything is there: at once where nothing is missing. `onFailure` gets why it will not be. */
  whenReady(use: () => unknown, onFailure: (error: unknown) => void): void {
    if (this.load.lacks?.(this.needed)) void this.open().then(use).catch(onFailure);
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
