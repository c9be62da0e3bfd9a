// @ts-check
import { tool } from "looplet";
import { compute } from "./arithmetic.mjs";

/** Computes an expression exactly as written. */
export const calculator = tool({
  description: "Calculates an arithmetic expression. Use it for every calculation.",
  inputSchema: {
    type: "object",
    properties: {
      expression: { type: "string", description: "For example (2 + 3) * sqrt(16)" },
    },
    required: ["expression"],
    additionalProperties: false,
  },
  readOnly: true,
  execute: ({ expression }) => compute(expression),
});
