/** From an agent and its inputs to the messages of the first request. */
import { ValueError } from "../errors.js";
import { expandNonces, withNonces, type Nonces } from "./nonces.js";
import { getParser, getRenderer } from "../components.js";
import { checkStrict, textOf, type Segment } from "./segments.js";
import type { PromptInputs, Message, Prompty, PromptyHost } from "../types.js";

/**
 * The inputs with their defaults. An optional input without a value is left out, and inputs that the file does not
 * declare pass. No value's type is checked.
 *
 * @throws ValueError `Missing required input: …`
 */
export function validateInputs({ inputs }: Pick<Prompty, "inputs">, given: PromptInputs = {}): PromptInputs {
  // An input is an own field, whatever its name, and never the prototype.
  const valid = new Map(Object.entries(given));
  for (const { name, required = false, default: fallback } of inputs) {
    if (valid.get(name) !== undefined) continue;
    if (fallback !== undefined) valid.set(name, structuredClone(fallback));
    else if (required) throw new ValueError(`Missing required input: ${name}`);
    else valid.delete(name);
  }
  return Object.fromEntries(valid);
}

/**
 * The text of the template with the inputs. A nonce represents each input of kind thread, image, file or audio.
 *
 * @throws StrictViolation for a strict input with a value that forges a role marker
 */
export async function render(
  agent: Prompty,
  inputs: PromptInputs = {},
  host: PromptyHost = {},
): Promise<string> {
  return (await rendered(agent, inputs, host)).text;
}

/** The pieces of that text, with the input that each came from. Throws as `render`. */
export async function renderSegments(
  agent: Prompty,
  inputs: PromptInputs = {},
  host: PromptyHost = {},
): Promise<Segment[]> {
  return (await rendered(agent, inputs, host)).segments;
}

/** Splits a rendered text into messages, by the parser of the agent. */
export async function parse(agent: Prompty, text: string): Promise<Message[]> {
  return getParser(agent.template.parser.kind).parse(agent, text);
}

/**
 * The messages of an agent: its inputs are validated, its template is rendered and split at the role markers, and
 * threads and media take the places of their inputs.
 *
 * @throws ValueError
 */
export async function prepare(
  agent: Prompty,
  inputs: PromptInputs = {},
  host: PromptyHost = {},
): Promise<Message[]> {
  const { text, nonces } = await rendered(agent, validateInputs(agent, inputs), host);
  return expandNonces(await parse(agent, text), nonces);
}

async function rendered(
  agent: Prompty,
  given: PromptInputs,
  host: PromptyHost,
): Promise<{ text: string; segments: Segment[]; nonces: Nonces }> {
  const { inputs, nonces } = withNonces(given, agent.inputs, host);
  const strict = agent.inputs.flatMap(({ name, strict }) => (strict === true ? [name] : []));
  const made = await getRenderer(agent.template.format.kind).render(
    agent,
    agent.instructions,
    inputs,
    strict,
  );
  const segments: Segment[] =
    typeof made === "string" ? [{ kind: "literal", text: made, source: null, strict: false }] : made;
  checkStrict(segments);
  return { text: textOf(segments), segments, nonces };
}
