/**
 * Says which reasoning a vendor would have read: an account of the vendors' rules that shares no code and no digest
 * with looplet. It watches the requests to a server of VENDORS.md and the reasoning that the server issues.
 *
 * The state of a conversation at each place is a node of a tree, so two states are equal if all that the vendor
 * compares is equal. A block fits at the place whose state is the one that it was made at, with the rest of its
 * answer after it. Claude also records which block came before: so a request can have any chain of blocks that fit,
 * without a gap. The longest chain is what the vendor would have read.
 */

/** A block of reasoning, and what the vendor has noted when it made it. */
interface Issued {
  readonly model: string;
  readonly org: string;
  /** The block that was sent or made before it. */
  readonly before: string | undefined;
  readonly state: number | string;
  /** What follows it in its answer. */
  readonly following: string;
}

/** A request, and the reasoning that could be in it. */
export interface Seen {
  readonly place: string;
  readonly model: string;
  /** The number of blocks that the vendor has read. */
  readonly read: number;
  /** Blocks that fit, in their order; with `true` for those that the model can read. */
  readonly fitting: readonly {
    proof: string;
    following: string;
    before: string | undefined;
    reads: boolean;
  }[];
  /** Claude takes no gap between blocks. */
  readonly isChained: boolean;
}

/** The longest chain that fits, without blocks whose answer is in `pruned`. */
export function couldRead({ fitting, isChained }: Seen, pruned: ReadonlySet<string>): number {
  const left = fitting.filter(({ following }) => !pruned.has(following));
  if (!isChained) return left.filter(({ reads }) => reads).length;
  const lengths = new Map<string, number>();
  for (const { proof, before, reads } of left)
    lengths.set(proof, (lengths.get(before ?? "") ?? 0) + Number(reads));
  return Math.max(0, ...lengths.values());
}

/** A part of a request: reasoning, or anything else. */
type Part = { proof: string } | { text: string; key: string; shows?: readonly string[] };

/** What a vendor compares. */
interface Vendor {
  /** What counts of the beginning, with these tools in force. */
  start(body: any, shown: ReadonlySet<string>): string;
  parts(body: any): Part[];
  answer(message: any): Part[];
  reads(asked: string, author: string): boolean;
  compares(model: string): boolean;
  readonly isChained: boolean;
  isBoundToAccount(model: string): boolean;
}

export class Oracle {
  readonly requests: Seen[] = [];
  readonly #issued = new Map<string, Issued>();
  readonly #nodes = new Map<string, number>();
  readonly #vendor: Vendor;

  constructor(vendor: keyof typeof vendors) {
    this.#vendor = vendors[vendor]!;
  }

  /** Notes a request and its answer. `lost` is the number of blocks that were sent and not read. */
  note(place: string, org: string, body: any, message: any, lost: number): void {
    const { parts, answer, reads, compares, isChained, isBoundToAccount } = this.#vendor;
    const model: string = body.model;
    const isCompared = compares(model);
    const shown = new Set<string>();
    let node = 0;
    const state = (): string => `${node} ${this.#node(this.#vendor.start(body, shown))}`;
    const push = (part: Part): void => {
      if (!("text" in part)) return;
      for (const name of part.shows ?? []) shown.add(name);
      node = this.#node(`${node} ${part.text}`);
    };
    let sent = 0;
    let last: string | undefined;
    const places = new Map<string, string>();
    for (const part of parts(body)) {
      if ("proof" in part) {
        last = part.proof;
        sent += 1;
        continue;
      }
      if (part.key !== "") places.set(part.key, state());
      push(part);
    }
    const fitting = [...this.#issued].flatMap(([proof, block]) => {
      const at = places.get(block.following);
      if (at === undefined || (isCompared && at !== block.state)) return [];
      const isOwn = block.org === org || !isBoundToAccount(block.model);
      return [
        {
          proof,
          following: block.following,
          before: block.before,
          reads: isOwn && reads(model, block.model),
        },
      ];
    });
    this.requests.push({ place, model, read: sent - lost, fitting, isChained: isChained && isCompared });
    const answered = answer(message);
    for (const [index, part] of answered.entries()) {
      if ("text" in part) {
        push(part);
        continue;
      }
      const next = answered.slice(index).find((other) => "text" in other);
      const following = next && "key" in next ? next.key : "";
      if (following !== "")
        this.#issued.set(part.proof, { model, org, before: last, state: state(), following });
      last = part.proof;
    }
  }

  #node(text: string): number {
    let node = this.#nodes.get(text);
    if (node === undefined) this.#nodes.set(text, (node = this.#nodes.size + 1));
    return node;
  }
}

/** A value with sorted fields and without cache markers. */
function plain(value: any): any {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== "cache_control");
  return Object.fromEntries(
    fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, of]) => [name, plain(of)]),
  );
}
const text = (value: unknown): string => JSON.stringify(plain(value)) ?? "";

const blocksOf = ({ content }: any): any[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function claudeParts(role: string, blocks: readonly any[]): Part[] {
  return blocks.map((block) => {
    if (block.type === "thinking" || block.type === "redacted_thinking")
      return { proof: block.signature ?? block.data };
    const references = (Array.isArray(block.content) ? block.content : (block.content?.tool_references ?? []))
      .map((one: any) => one.tool_name)
      .filter(Boolean);
    const added = block.type === "tool_addition" ? [block.tool.name ?? block.tool.definition?.name] : [];
    const key = role === "assistant" ? (block.id ?? block.text ?? "") : "";
    return { text: `${role} ${text(block)}`, key, shows: [...references, ...added] };
  });
}

const has = (model: string, ...names: string[]): boolean => names.some((name) => model.includes(name));

/** VENDORS.md, 1.1. */
const comparesClaude = (model: string): boolean =>
  has(model, "fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2", "-5-5");

/** VENDORS.md, 1.4. */
function claudeReads(asked: string, author: string): boolean {
  if (asked === author) return true;
  if (!comparesClaude(asked)) return false;
  if (has(author, "haiku-5-5")) return true;
  if (has(asked, "fable-5-2", "mythos-5-2")) return has(author, "fable-5-2", "mythos-5-2");
  if (has(author, "fable-5-2", "mythos-5-2")) return false;
  if (has(asked, "fable-5-1", "mythos-5-1")) return !has(author, "sonnet-5-5");
  if (has(author, "fable", "mythos", "haiku-5-5")) return false;
  if (has(asked, "opus-5-5")) return true;
  if (has(asked, "sonnet-5-5")) return has(author, "sonnet-5", "opus-4", "haiku-4") && !has(author, "opus-5");
  // Nothing is said of the older ones.
  return false;
}

const vendors: { [name: string]: Vendor } = {
  /** VENDORS.md, 1.2. */
  Anthropic: {
    start: ({ system, tools = [] }, shown) => {
      const inForce = tools.filter((tool: any) => tool.defer_loading !== true || shown.has(tool.name));
      return text([system ?? [], inForce.map(({ defer_loading, ...tool }: any) => tool)]);
    },
    parts: ({ messages }) =>
      messages.flatMap((message: any) => {
        const { role, content, ...settings } = message;
        const start =
          Object.keys(settings).length > 0 ? [{ text: `settings ${text(settings)}`, key: "" }] : [];
        return [...start, ...claudeParts(role, blocksOf(message))];
      }),
    answer: ({ content }) => claudeParts("assistant", content),
    reads: claudeReads,
    compares: comparesClaude,
    isChained: true,
    isBoundToAccount: (model) => has(model, "sonnet-5-5", "haiku-5-5", "fable-5-2", "mythos-5-2"),
  },
  /** VENDORS.md, 1.7. */
  OpenAI: {
    start: ({ model, instructions = "", tools = [], text: { format = { type: "text" } } = {} }) =>
      text([tools, format, has(model, "gpt-6.2") ? null : instructions]),
    parts: ({ input }) => gptParts(input),
    answer: ({ output }) => gptParts(output),
    reads: (asked, author) => asked === author || (has(asked, "6.2") && rank(author) <= rank(asked)),
    compares: (model) => has(model, "gpt-6.2"),
    isChained: false,
    isBoundToAccount: (model) => has(model, "gpt-6.2"),
  },
};

function gptParts(items: readonly any[]): Part[] {
  return items.map(({ id, status, ...item }) => {
    if (item.type === "reasoning") return { proof: item.encrypted_content };
    const words = Array.isArray(item.content) ? item.content.map(({ text }: any) => text) : item.content;
    if (item.role !== undefined && item.type !== "additional_tools")
      return { text: text([item.role, words].flat()), key: item.role === "assistant" ? words.join("") : "" };
    return { text: text(item), key: item.type.endsWith("_call") ? (item.call_id ?? id ?? "") : "" };
  });
}

/** A later version reads an earlier one, and a larger model a smaller one. */
const rank = (model: string): number =>
  Number(/gpt-(\d+\.?\d*)/.exec(model)![1]) * 10 + (has(model, "astra") ? 3 : has(model, "sol") ? 2 : 1);
