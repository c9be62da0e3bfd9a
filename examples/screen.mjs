// @ts-check
// A run on a terminal: colours and Markdown where there is one, plain text in a file or a pipe.
import { Markdown } from "./screen-markdown.mjs";

const isColored = Boolean(process.env["FORCE_COLOR"]) || process.stdout.isTTY === true;
const isTty = isColored && !process.env["NO_COLOR"];
const codes = { bold: 1, dim: 2, italic: 3, underline: 4, red: 31, green: 32, yellow: 33, cyan: 36 };

/** @param {keyof typeof codes} style @param {string} text */
const paint = (style, text) => (isTty ? `\u001b[${codes[style]}m${text}\u001b[0m` : text);

/** Writes text as it arrives and puts everything else on separate lines. */
export class Screen {
  #isLineOpen = false;
  #isThinking = false;
  #markdown = new Markdown(paint);

  /** @param {import("looplet").RunEvent} event */
  show(event) {
    switch (event.type) {
      case "reasoning-delta":
        if (!this.#isThinking) this.#line(paint("dim", "thinking: "), true);
        this.#isThinking = true;
        return this.#write(paint("dim", event.text.replaceAll("\n", " ")));
      case "reasoning-end":
        this.#isThinking = false;
        return this.#closeLine();
      case "text-delta":
        return this.#write(isTty ? this.#markdown.write(event.text) : event.text);
      case "text-end":
        this.#write(this.#markdown.end());
        return this.#closeLine();
      case "tool-call":
        return this.#line(`${paint("cyan", "→")} ${paint("bold", event.toolName)} ${json(event.input)}`);
      case "tool-progress":
        return this.#line(paint("dim", `  ${event.toolName}: ${json(event.data)}`));
      case "tool-result":
        return this.#line(
          `${paint("green", "✓")} ${event.toolName} ${short(json(event.output))} ${paint("dim", `(${event.durationMs} ms)`)}`,
        );
      case "tool-error":
        return this.#line(
          `${paint("red", "✗")} ${event.toolName} ${event.error.code}: ${event.error.message}`,
        );
      case "retry":
        return this.#line(
          paint(
            "yellow",
            `${event.error.message}: attempt ${event.nextAttempt} of ${event.maxAttempts} in ${event.delayMs} ms`,
          ),
        );
      case "reset":
        this.#markdown = new Markdown(paint);
        return this.#line(paint("yellow", "The answer broke off and starts over."));
      case "warning":
        return this.#line(paint("yellow", event.message));
      case "error":
        return this.#line(paint("red", event.error.message));
    }
  }

  /** @param {import("looplet").RunResult} result */
  end(result) {
    this.#line(lastLine(result));
  }

  /** @param {string} text @param {boolean} [staysOpen] */
  #line(text, staysOpen = false) {
    this.#closeLine();
    this.#write(staysOpen ? text : `${text}\n`);
  }

  /** @param {string} text */
  #write(text) {
    if (text === "") return;
    process.stdout.write(text);
    this.#isLineOpen = !text.endsWith("\n");
  }

  #closeLine() {
    if (this.#isLineOpen) this.#write("\n");
  }
}

/** @param {import("looplet").RunResult} result */
function lastLine({ outcome, stoppedBy, iterations, toolCalls, usage, costNanoUsd }) {
  const word = paint(outcome === "completed" ? "green" : outcome === "failed" ? "red" : "yellow", outcome);
  const facts = [
    stoppedBy ? `by ${stoppedBy}` : "",
    `${iterations} ${iterations === 1 ? "iteration" : "iterations"}`,
    `${toolCalls.length} tool ${toolCalls.length === 1 ? "call" : "calls"}`,
    usage === null ? "tokens unknown" : `${usage.inputTokens} tokens in`,
    usage === null ? "" : `${usage.outputTokens} out`,
    costNanoUsd === null ? "" : `$${(costNanoUsd / 1e9).toFixed(4)}`,
  ];
  return [word, ...facts.filter(Boolean)].join(" · ");
}

/** @param {unknown} value */
const json = (value) => (typeof value === "string" ? value.replaceAll("\n", " ") : JSON.stringify(value));

/** @param {string} text */
const short = (text) => (text.length > 160 ? `${text.slice(0, 159)}…` : text);
