/**
 * Twelve agents with a fault that their authors could have made, each with a twin that is mended. A fault that
 * `simulate` cannot find is no fault of theirs: the mended twins run in the same worlds.
 */
import { anthropic, createAgent, subagent, tool, ToolError, type AgentOptions, type Tool } from "looplet";
import { memoryStore } from "looplet/stores";
import {
  alwaysApproved,
  endsAs,
  endsWithin,
  neverAfter,
  neverTwice,
  underBudget,
  type Invariant,
  type SimulatedRun,
  type WorldOptions,
  type World,
} from "looplet/testing";

/** An agent with a fault, and how it is found. */
export interface Planted {
  readonly fault: string;
  /** Makes the agent, with its fault or mended. */
  readonly agent: (isMended: boolean) => (world: World) => unknown;
  readonly invariants: readonly Invariant[];
  /** The name of the invariant that it breaks. */
  readonly breaks: string;
  readonly world?: WorldOptions;
}

const model = anthropic("claude-sonnet-4-6", { apiKey: "k" });
const schema = <const P extends { readonly [name: string]: object }>(properties: P) =>
  ({ type: "object", properties, required: Object.keys(properties) as (keyof P & string)[] }) as const;
const cents = schema({ cents: { type: "integer", minimum: 1 } });
const nothing = schema({});

/** A durable agent whose tools have a time. */
const durable = (tools: { [name: string]: Tool }, more: Partial<AgentOptions> = {}) =>
  createAgent({ model, store: memoryStore(), timeouts: { toolMs: 60_000 }, tools, ...more });

export const PLANTED: readonly Planted[] = [
  {
    fault: "a charge that is made anew when its process has died",
    breaks: 'neverTwice("payment")',
    invariants: [neverTwice("payment")],
    agent: (isMended) => (world) =>
      durable({
        charge: tool({
          description: "Charges the customer",
          inputSchema: cents,
          replay: "safe",
          execute: (_, { toolCallId }) => {
            const paid = world.kept("payments", () => new Set<string>());
            if (isMended && paid.has(toolCallId)) return "paid";
            paid.add(toolCallId);
            world.effect("payment", toolCallId);
            return "paid";
          },
        }),
      }),
  },
  {
    fault: "an approval that a hook lets through",
    breaks: 'alwaysApproved("delete_*")',
    invariants: [alwaysApproved("delete_*")],
    agent: (isMended) => () =>
      durable(
        {
          delete_file: tool({
            description: "Deletes a file",
            inputSchema: nothing,
            execute: () => "deleted",
          }),
        },
        {
          permissions: isMended ? { ask: ["delete_file"] } : {},
          hooks: {
            PreToolUse: [
              {
                hooks: [
                  ({ toolName }) => (toolName.startsWith("delete_") ? { decision: "allow" } : undefined),
                ],
              },
            ],
          },
        },
      ),
  },
  {
    fault: "a budget that an agent within a tool escapes",
    breaks: "underBudget()",
    invariants: [underBudget()],
    agent: (isMended) => (world) => {
      const note = tool({ description: "Takes a note", inputSchema: nothing, execute: () => "noted" });
      const inner = createAgent({ model, tools: { note }, timeouts: { toolMs: 60_000 } });
      const research = tool({
        description: "Looks something up",
        inputSchema: schema({ prompt: { type: "string" } }),
        execute: async ({ prompt }, { signal }) =>
          (await world.inside(inner).run(`Look up ${prompt}`, { signal }).result).text,
      });
      const helper = subagent({ description: "Looks something up", model, tools: { note } });
      return createAgent({
        model,
        tools: { research: isMended ? helper : research },
        timeouts: { toolMs: 600_000 },
        limits: { maxTotalTokens: 1500 },
      });
    },
  },
  {
    fault: "a tool that hangs without a deadline",
    breaks: "ends()",
    invariants: [],
    agent: (isMended) => () =>
      createAgent({
        model,
        tools: {
          fetch_page: tool({
            description: "Reads a page",
            inputSchema: nothing,
            ...(isMended && { timeoutMs: 30_000 }),
            execute: () => "<p>",
          }),
        },
      }),
  },
  {
    fault: "a tool that swallows its error",
    breaks: "everyMailIsSent",
    invariants: [
      function everyMailIsSent({ calls, effects }: SimulatedRun) {
        const lost = calls.find(
          ({ toolCallId, isError, endedMs }) =>
            endedMs !== undefined && isError === false && !effects.some(({ key }) => key === toolCallId),
        );
        return lost && `the call ${lost.toolCallId} says that the mail was sent, and it was not`;
      },
    ],
    agent: (isMended) => (world) =>
      durable({
        send_mail: tool({
          description: "Sends a mail",
          inputSchema: schema({ to: { type: "string" } }),
          execute: async (_, { toolCallId }) => {
            try {
              await world.sleep(100);
              if (world.chance("the mail server is down", 0.1)) throw new Error("connection refused");
              world.effect("mail", toolCallId);
            } catch (error) {
              if (isMended) throw error;
            }
            return "sent";
          },
        }),
      }),
  },
  {
    fault: "a tool whose result has no bound",
    breaks: "requestsStayShort",
    invariants: [
      function requestsStayShort({ requests }: SimulatedRun) {
        const long = requests.find(({ request }) => request.bodyText.length > 150_000);
        return long && `a request has ${long.request.bodyText.length} characters`;
      },
    ],
    agent: (isMended) => () =>
      createAgent({
        model,
        tools: {
          list_orders: tool({
            description: "Lists orders",
            inputSchema: schema({ limit: { type: "integer" } }),
            execute: ({ limit }) => "order ".repeat(Math.max(0, Math.min(limit, isMended ? 100 : 200_000))),
          }),
        },
        timeouts: { toolMs: 60_000 },
      }),
  },
  {
    fault: "a refund after the order was closed",
    breaks: 'neverAfter("refund", "closed")',
    invariants: [neverAfter("refund", "closed")],
    agent: (isMended) => (world) => {
      const order = world.kept("order", () => ({ isClosed: false }));
      return durable({
        close_order: tool({
          description: "Closes the order",
          inputSchema: nothing,
          execute: (_, { toolCallId }) => {
            order.isClosed = true;
            world.effect("closed", toolCallId);
            return "closed";
          },
        }),
        refund_order: tool({
          description: "Pays the order back",
          inputSchema: nothing,
          execute: (_, { toolCallId }) => {
            if (isMended && order.isClosed) throw new ToolError({ message: "The order is closed." });
            world.effect("refund", toolCallId);
            return "refunded";
          },
        }),
      });
    },
  },
  {
    fault: "a history that is cut by hand",
    breaks: "ends()",
    invariants: [],
    agent: (isMended) => async (world) => {
      const look = tool({
        description: "Looks",
        inputSchema: nothing,
        readOnly: true,
        execute: () => "nothing new",
      });
      const agent = world.inside(createAgent({ model, tools: { look }, timeouts: { toolMs: 60_000 } }));
      const { messages } = await agent.run("Look.").result;
      const kept = isMended ? messages : messages.slice(-2);
      const { outcome, error } = {
        error: undefined,
        ...(await agent.run("Once more.", { messages: kept }).result),
      };
      if (outcome === "failed" && error?.code.startsWith("config_")) throw new Error(error.message);
    },
  },
  {
    fault: "a hook that never lets the model stop",
    breaks: 'endsWithin({"iterations":25})',
    invariants: [endsWithin({ iterations: 25 })],
    agent: (isMended) => () => {
      let asked = 0;
      return createAgent({
        model,
        limits: { maxIterations: 60 },
        hooks: {
          Stop: [
            {
              hooks: [
                () =>
                  isMended && asked++ > 0 ? undefined : { decision: "block", reason: "Check it once more." },
              ],
            },
          ],
        },
      });
    },
  },
  {
    fault: "an answer of a person that nobody waits for",
    breaks: 'alwaysApproved("wire_money")',
    invariants: [alwaysApproved("wire_money")],
    agent: (isMended) => (world) =>
      durable(
        { wire_money: tool({ description: "Wires money", inputSchema: cents, execute: () => "wired" }) },
        {
          permissions: {
            async canUseTool(_name, _input, { toolCallId }) {
              const late = world.sleep(600_000).then(() => !isMended);
              const isAllowed = await Promise.race([world.ask(toolCallId), late]);
              return isAllowed ? { behavior: "allow" } : { behavior: "deny", message: "Not allowed." };
            },
          },
        },
      ),
  },
  {
    fault: "a deploy that renames the agent behind a tool",
    breaks: 'endsAs("completed", "stopped", "cancelled")',
    invariants: [endsAs("completed", "stopped", "cancelled")],
    world: { only: ["crash"] },
    agent: (isMended) => (world) => {
      const note = tool({ description: "Takes a note", inputSchema: nothing, execute: () => "noted" });
      const helper = subagent({ description: "Helps", model, tools: { note } });
      return durable({ [isMended || world.process === 1 ? "helper" : "assistant"]: helper });
    },
  },
  {
    fault: "a cache that outlives what it keeps",
    breaks: "noStaleRead",
    invariants: [
      function noStaleRead({ effects }: SimulatedRun) {
        const stale = effects.find(({ name }) => name === "stale read");
        return stale && `the price ${stale.key} was read`;
      },
    ],
    agent: (isMended) => (world) => {
      const prices = world.kept("prices", () => ({ version: 0 }));
      const cache = new Map<string, number>();
      return durable({
        read_price: tool({
          description: "Reads the price",
          inputSchema: nothing,
          readOnly: true,
          execute: () => {
            const price = cache.get("price") ?? prices.version;
            cache.set("price", price);
            if (price !== prices.version) world.effect("stale read", String(price));
            return String(price);
          },
        }),
        set_price: tool({
          description: "Sets the price",
          inputSchema: nothing,
          execute: () => {
            prices.version += 1;
            if (isMended) cache.clear();
            return "set";
          },
        }),
      });
    },
  },
];
