// @ts-check
// A program of the OpenAI Agents SDK, ported: a triage agent hands off to billing, and an input guardrail blocks card
// numbers.
//
//   before: const triage = new Agent({ name, instructions, handoffs: [billing], inputGuardrails: [noCards] });
//           const result = await run(triage, input)
//
//   node examples/ported/openai-handoff.mjs "Where is my invoice? I am c-17."
import { createAgent, handoff, tool } from "looplet";
import { claude, isMain } from "./model.mjs";

const invoices = tool({
  description: "Lists the invoices of a customer",
  inputSchema: { type: "object", properties: { customer: { type: "string" } }, required: ["customer"] },
  readOnly: true,
  execute: ({ customer }) => [{ customer, euros: 20 }],
});

/** @param {string} prompt */
export async function main(prompt) {
  const billing = handoff({
    description: "Invoices and refunds",
    system: "You are billing.",
    tools: { invoices },
  });
  const triage = createAgent({
    model: claude([
      { toolCalls: [{ name: "to_billing", input: {} }] },
      { toolCalls: [{ name: "invoices", input: { customer: "c-17" } }] },
      { text: "Customer c-17 owes 20 euros." },
    ]),
    system: "You find out what the customer wants.",
    tools: { to_billing: billing },
    limits: { maxIterations: 10 }, // maxTurns
    timeouts: { toolMs: 30_000 },
    guardrails: {
      input: (messages) => {
        const hasCard = /\b(?:\d[ -]?){15}\d\b/.test(JSON.stringify(messages));
        return hasCard
          ? { allowed: false, reason: "the prompt has the number of a card" }
          : { allowed: true };
      },
    },
  });
  const result = await triage.run(prompt).result;
  if (result.outcome === "stopped") return { outcome: result.outcome, reason: result.abortReason }; // tripwire
  return { outcome: result.outcome, text: result.text, lastAgent: result.agent };
}

if (isMain(import.meta.url)) console.log(await main(process.argv[2] ?? "Where is my invoice? I am c-17."));
