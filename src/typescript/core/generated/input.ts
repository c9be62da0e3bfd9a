// Printed from src/engine/model by `npm run format`: change the types there.
import type {
  Block,
  Effort,
  ElicitationAnswer,
  Failure,
  FailureCode,
  Loader,
  Message,
  OnCutOff,
  OnOutputLimit,
  OnUnknownTool,
  OutputMode,
  PermissionMode,
  PermissionResult,
  PermissionUpdate,
  Point,
  PromptCaching,
  Pruning,
  QueueMode,
  ResponseFormat,
  RetryPolicy,
  StopCondition,
  Timeouts,
  ToolAccess,
  ToolChoice,
  ToolExecution,
  ToolFault,
} from "./model.js";

/**
 * One input. Its bytes are borrowed, so that a chunk is copied into the engine once.
 *
 * In JSON: `{"steer":{"id":1,"content":[…]}}`, `"due"`.
 */
export type Input =
  /**
   * Starts the run. A run that comes from a checkpoint goes on as for `PickUp`, if it began with this prompt, and
   * fails if not.
   */
  | {
      prompt: {
        content: readonly Block[];
      };
    }
  /** Goes on with a run that comes from a checkpoint, also with one that has been stopped. */
  | "resume"
  /** Goes on with a run that comes from a checkpoint. One that has ended ends again in the same way. */
  | "pickUp"
  /** Goes on with a run whose instance was lost, in the process that has begun it. */
  | {
      recover: {
        /** The calls whose functions still run, or whose results nobody has taken. */
        running: readonly number[];
        /** The number of the next event that nobody has heard. */
        nextEvent: number;
        /** The blocks that your listeners have heard of the root's open answer. */
        shownBlocks: number;
      };
    }
  /** Gives the model a message before its next call. The TypeScript chooses the id, any number. */
  | {
      steer: {
        id: number;
        content: readonly Block[];
      };
    }
  /** Gives the model a message when it has finished. */
  | {
      followUp: {
        id: number;
        content: readonly Block[];
      };
    }
  /** Takes back a steer or follow-up that has not been delivered. */
  | {
      withdraw: {
        id: number;
      };
    }
  /**
   * An input that your code may deliver twice. A second one with this text changes nothing, in another process
   * neither.
   */
  | {
      once: {
        request: string;
        input: Input;
      };
    }
  /**
   * The head of a response has arrived. Header names come in any case. A redirect has a status from 300 to 399,
   * 302 if the platform hides it, and the origin of its target as `location`, if that can be read.
   */
  | {
      head: {
        request: number;
        status: number;
        headers: readonly [string, string][];
      };
    }
  | {
      end: {
        request: number;
      };
    }
  /** The request failed, or the reading of its body. `why` contains no secret. */
  | {
      networkFailed: {
        request: number;
        why: string;
      };
    }
  /**
   * No server was asked, by the fault of your code: `authorize` threw (`config_invalid`), or code that answers in
   * place of a server did (`custom_model`). It is not retried.
   */
  | {
      notSent: {
        request: number;
        code: FailureCode;
        why: string;
      };
    }
  /** The failure of `Redact`(crate::engine::model::output::Output::Redact), without secrets. */
  | {
      requestFailed: {
        request: number;
        failure: Failure;
      };
    }
  | {
      toolFinished: {
        call: number;
        result: ToolReturn;
      };
    }
  | {
      toolProgress: {
        call: number;
        data: unknown;
      };
    }
  /**
   * A running call asks a person, with the number of its question: 1 for its first. A call that runs again asks
   * under the same numbers, and gets the answers that the journal has.
   */
  | {
      toolAsks: {
        call: number;
        number: number;
        request: unknown;
      };
    }
  /**
   * A running call has come so far that it can go on from this state, or so far that it cannot go on from the last
   * one.
   */
  | {
      toolCheckpoint: {
        call: number;
        state?: unknown;
        /** The number of questions that the call has asked before. Their answers are forgotten. */
        asked: number;
      };
    }
  | {
      answered: {
        question: number;
        answer: Answer;
      };
    }
  | {
      saved: {
        save: number;
        ok: boolean;
      };
    }
  /**
   * The store has not taken this number of entries, the first of which has the number `since`. `why` is its error.
   */
  | {
      notSaved: {
        entries: number;
        since: number;
        why: string;
      };
    }
  /** Your listeners have heard everything that came before the handover. */
  | {
      handedOver: {
        handover: number;
      };
    }
  /** Sets the mode for calls that no rule speaks of, from the next call on. */
  | {
      setMode: {
        mode: PermissionMode;
      };
    }
  /** The root asks this model from its next request on. */
  | {
      setModel: {
        model: ModelConfig;
      };
    }
  /**
   * Summarises the root's history before its next request. `instructions` is guidance for the summary. With `only`
   * the run ends then, and its prompt, which comes behind this input, is empty.
   */
  | {
      compact: {
        instructions?: string | null;
        only?: boolean;
      };
    }
  /** Raises limits of an agent that is at work. */
  | {
      addBudget: {
        agentPath: string;
        more: Raise;
      };
    }
  /** The timer fired, or time has passed anyway. */
  | "due"
  | {
      cancel: {
        why: string;
      };
    }
  /**
   * The next event has this number at least. It comes before `Resume`, because listeners have heard events of
   * another process that the journal does not count.
   */
  | {
      numberFrom: {
        event: number;
      };
    }
  /** Ends the work of this process. The journal learns of no end, so that another process goes on with the run. */
  | {
      suspend: {
        why: string;
      };
    }
  /** Ends the work of this process as `Suspend` does, because your code can do nothing more for the run. */
  | {
      giveUp: {
        failure: Failure;
      };
    };

/** The return value of a tool's function. */
export type ToolReturn =
  /** Any JSON value. The model sees a string as it is and any other value as its JSON text. */
  | {
      value: unknown;
    }
  /** Blocks for the model (text, media). */
  | {
      content: readonly Block[];
    }
  | {
      fault: ToolFault;
    }
  /** A result after which the run ends if the round's other calls say so too. It is never nested. */
  | {
      last: ToolReturn;
    };

/** The answer to a question. */
export type Answer =
  | {
      hook: HookAnswer;
    }
  /** One entry per call in the question, in order. */
  | {
      prepared: readonly PreparedCall[];
    }
  /** One text per error in the question, in order. */
  | {
      worded: readonly string[];
    }
  | {
      permission: PermissionResult;
    }
  | {
      classified: PermissionResult;
    }
  | {
      reconciled: Reconciled;
    }
  | {
      elicited: ElicitationAnswer;
    }
  /** True when the run should stop. */
  | {
      stop: boolean;
    }
  | {
      checked: CheckedOutput;
    }
  /** The summary of the conversation so far. */
  | {
      summary: string;
    }
  /** The messages that the next agent begins with. */
  | {
      filtered: readonly Message[];
    }
  /** An answer that changes inputs, together with the platform's readings of texts in them. */
  | {
      read: {
        readings: readonly Reading[];
        answer: Answer;
      };
    }
  /** Your code could not answer. The point's own failure rule decides. */
  | {
      failed: {
        why: string;
      };
    };

/** The answer of a hook, or of several hooks joined. */
export interface HookAnswer {
  decision?: Decision | null;
  /** The reason for the decision; the model reads it. */
  reason?: string | null;
  /**
   * `PreToolUse` (not with `"defer"`), `PermissionRequest`: the input that the tool gets. The history keeps the
   * model's own, and the model reads the new one beside the result.
   */
  updatedInput?: { [field: string]: unknown } | null;
  /** `PostToolUse`: the output that the model, the events and the result get in place of the tool's. */
  updatedOutput?: unknown;
  /** The messages with which the conversation goes on. */
  messages?: readonly Message[] | null;
  /** Further texts for the model. */
  context?: readonly string[];
  /** The reason to end the run; absent if it goes on. */
  stop?: string | null;
  /** `PermissionDenied`: tells the model that it may try the call again. */
  retry?: boolean;
  /** `PermissionRequest` with `"deny"`: ends the run as `cancelled`. */
  interrupt?: boolean;
  /** `PermissionRequest`: changes of the rules for the rest of the run. */
  updatedPermissions?: readonly PermissionUpdate[];
  /** Text for the user, not for the model: a `warning` event with the code `hook_message`. */
  systemMessage?: string | null;
  /** Texts that your classifier gets with later calls. */
  classifierContext?: readonly string[];
  prepared?: Prepared | null;
  limits?: Raise | null;
}

/** A hook's decision, from the mildest to the strictest. */
export type Decision = "allow" | "ask" | "defer" | "deny";

/** Changes to the requests of the next iteration. */
export interface Prepared {
  model?: ModelConfig | null;
  /** Names of the tools that the model may see, in this order; a call of any other tool is denied. */
  tools?: readonly string[] | null;
  toolChoice?: ToolChoice | null;
  /** The system prompt; `""` sends none. */
  system?: string | null;
}

/** A model, its address, and the way it is asked. */
export interface ModelConfig {
  /** The TypeScript's number of the model. Each request carries it, so that the right key is used. */
  slot?: number;
  /** The name of a vendor row (`anthropic`, `openai`, …), or `compatible` or `custom`. */
  vendor?: string;
  /** The wire protocol's name; default: the vendor's own. */
  protocol?: string | null;
  model?: string;
  /**
   * The URL before the protocol's path, for example your proxy's, without a query or a hash. The version (`/v1`),
   * a slash at the end and the path of the endpoint may be there or not. A relative URL is resolved against the
   * page. A `fetch` of your own can add a query. Default: the vendor's.
   */
  baseUrl?: string | null;
  /**
   * The vendor's own base URL, for a vendor without a row in the engine. It completes a `base_url` without a path.
   */
  vendorUrl?: string | null;
  /** Further request headers, in order. A key never stands here: `authorize` adds it. */
  headers?: readonly [string, string][];
  /** Whether the answer is streamed. */
  stream?: boolean;
  /**
   * Whether the vendor holds the conversation between requests, so that a request sends only what is new. The
   * vendor keeps the content for a short time; tokens cost the same. Anthropic's message threads; no other
   * protocol has it yet. Default: false.
   * <https://platform.claude.com/docs/en/build-with-claude/message-threads> (2026-11-29)
   */
  serverState?: boolean | null;
  /**
   * Tokens of one answer, a positive integer. Default: where the protocol demands a number 8192, 32,000 for a
   * model that thinks, and 64,000 with an effort above `high`; else the vendor's.
   */
  maxOutputTokens?: number | null;
  /** Default: the vendor's. */
  temperature?: number | null;
  /** Default: the vendor's. */
  topP?: number | null;
  /** Default: the vendor's. */
  topK?: number | null;
  /** A number for vendors that support it. Default: the vendor's. */
  frequencyPenalty?: number | null;
  /** A number for vendors that support it. Default: the vendor's. */
  presencePenalty?: number | null;
  /** A number for vendors that support it. Default: the vendor's. */
  seed?: number | null;
  /** Texts at which the answer ends. Default: none. */
  stopSequences?: readonly string[];
  /** `{ budgetTokens }` for extended thinking, as Anthropic has it, or the vendor's own object. Default: none. */
  thinking?: { [field: string]: unknown } | null;
  /**
   * How much the model thinks, for vendors that support it. A model that is known to refuse it is asked without
   * it, with the warning `effort_not_sent`. Default: the vendor's.
   */
  effort?: Effort | null;
  /** Whether the model must call a tool, and which one. Default: the vendor's (`"auto"`). */
  toolChoice?: ToolChoice | null;
  /** Whether one answer may have several calls; `false` asks the vendor for one at most. Default: the vendor's. */
  parallelToolCalls?: boolean | null;
  /** The schema of the answer's text, which is then JSON. Default: any text. */
  responseFormat?: ResponseFormat | null;
  promptCaching?: PromptCaching;
  /** Data that the vendor stores with the request, for example `{ user_id }` for Anthropic. Default: none. */
  metadata?: { [field: string]: unknown } | null;
  /** Fields that are added to the request body and win over looplet's own. Default: none. */
  body?: { [field: string]: unknown } | null;
  /**
   * A JSON object of the server's deviations from its protocol's documentation: see
   * `quirks`. Default: the deviations in the vendor's row.
   */
  quirks?: unknown;
  price?: Price | null;
  /**
   * The prices of other models that the vendor asks within a request, because `body` names them: an advisor, a
   * fallback. Tokens of a model that is not here cost as much as those of the asked one.
   */
  otherPrices?: readonly [string, Price][];
}

/** The price of a model in nano-USD per token (1 nano-USD per token = 0.001 USD per million tokens). */
export interface Price {
  inputNanoUsd: number;
  outputNanoUsd: number;
  /** Per token read from the cache; default: the input price. */
  cacheReadNanoUsd?: number | null;
  /** Per token written to the cache; default: the input price. */
  cacheWriteNanoUsd?: number | null;
  /** Per token written to the cache for an hour; default: as any other token written to it. */
  cacheWriteHourNanoUsd?: number | null;
  /** The number of input tokens above which the whole call is dearer; default: no such number. */
  longAboveTokens?: number | null;
  /** The input price of such a call, in percent of the normal one; default 100. */
  longInputPercent?: number | null;
  /** The output price of such a call, in percent; default 100. */
  longOutputPercent?: number | null;
  /** The cost of a call that the vendor served as a batch, in percent of the normal one; default 100. */
  batchPercent?: number | null;
  /** The same of the service tier `flex`. */
  flexPercent?: number | null;
  /** The same of the service tier `priority`. */
  priorityPercent?: number | null;
  /** The same of a call at the speed `fast`. */
  fastPercent?: number | null;
  /** The same of inference that stays in the USA. */
  usPercent?: number | null;
}

/** Limits for the rest of the run. A limit that is left out stays. */
export interface Raise {
  maxIterations?: number | null;
  maxTotalTokens?: number | null;
  maxCostNanoUsd?: number | null;
  maxToolRounds?: number | null;
  maxToolCalls?: number | null;
  /**
   * Milliseconds that are added from the answer on, for the limit `time`. `run.addBudget` adds them to
   * `timeouts.totalMs`.
   */
  timeMs?: number | null;
}

/** Your code's preparation of one call before it runs. */
export interface PreparedCall {
  /** The validated input that the tool gets. The history keeps the model's own text. */
  input?: unknown;
  /** The key of the resource. Calls with equal keys never overlap. */
  resourceKey?: string | null;
  /** The message for the model when the input is invalid. */
  problem?: string | null;
  /** This call has to be approved before it runs. */
  needsApproval?: boolean;
  /** The call touches another place than its input names, as through a link. */
  leadsElsewhere?: boolean;
}

/** The decision in one word. */
export type Behavior = "allow" | "deny";

/** The answer to the question what became of a call that had begun in another process. */
export type Reconciled =
  /** The call was done, and this is its result. */
  | {
      done: {
        output: unknown;
      };
    }
  /** The call was not done, and runs now. */
  | "run"
  /** The call failed. The model reads the message. */
  | {
      fail: {
        message: string;
      };
    };

/** Your code's judgement of a structured answer. */
export interface CheckedOutput {
  /** The message for the model when the answer is not accepted. */
  problem?: string | null;
  /** The value that the run's result shows instead of the model's own. */
  output?: unknown;
}

/** One text and its normal forms. */
export interface Reading {
  text: string;
  /** For paths: the text in Unicode's NFC; absent if it is in that form. */
  composed?: string | null;
  /**
   * The address; absent if the platform's `URL` refuses the text, or if its scheme does not follow the rules of
   * the web.
   */
  address?: Address | null;
}

/** An address in normal form. */
export interface Address {
  /** For example `https`. */
  scheme: string;
  /** The host in lower case, in ASCII, without a last dot. */
  host: string;
  /** The host with its port and, if the port is the usual one, without it. */
  places: readonly string[];
  /** Path and query as `URL` writes them and, if they differ, with escapes resolved. */
  paths: readonly string[];
}

/** The configuration that all runs of an agent share, camelCase in JSON. */
export interface Config {
  model?: ModelConfig;
  system?: string | null;
  /** Text that is appended to the system prompt of every agent of the run. */
  sharedInstructions?: string | null;
  tools?: readonly ToolConfig[];
  limits?: Limits;
  /** Time limits of the run and its parts. */
  timeouts?: Timeouts;
  /** Conditions that end the run when a round of tools is over. One that holds is enough. */
  stopWhen?: readonly StopCondition[];
  /** True when your code is asked after each round of tools whether to stop. */
  askStop?: boolean;
  /** The form that answers must have; default: any text. */
  output?: OutputFormat | null;
  /** When and how the history is made shorter. */
  context?: ContextPolicy;
  repeat?: RepeatPolicy;
  /** True when your code is asked about repeated rounds. */
  askRepeat?: boolean;
  /** When and how looplet repeats a failed model call. */
  retry?: RetryPolicy;
  /** The models to ask in turn when a model's retries are used up. */
  fallbackModels?: readonly ModelConfig[];
  /** Which calls may run; default: every call, except calls of tools that need an approval. */
  permissions?: Permissions | null;
  /** Hooks and guardrails, in the order in which they are asked; default none. */
  hooks?: readonly Hook[];
  /** The bounds of one answer of a model, and how looplet treats one that is not whole. */
  answers?: AnswerPolicy;
  /** How tool calls run, and what the model reads of them. */
  toolCalls?: ToolCallPolicy;
  /** Which events a run tells. */
  events?: EventPolicy;
  /** How many deaths of its processes a run with a `store` outlasts. */
  durable?: Recovery;
  /** How many of the waiting steers a model call takes. */
  steeringMode?: QueueMode;
  /** How many of the waiting follow-ups are asked when the model has finished. */
  followUpMode?: QueueMode;
  /** The steps of effects are saved; without a journal no step is saved, and nothing waits for a save. */
  journal?: boolean;
  /** Events carry their time, and tool calls the hash of their input. */
  trace?: boolean;
  /**
   * The configurations of the agents that stand behind tools, from the second profile on. Their own lists are
   * empty.
   */
  agents?: readonly Config[];
}

/** One tool, without its function, which stays in JavaScript. */
export interface ToolConfig {
  name?: string;
  description?: string;
  /** JSON Schema of the input, sent to the model as it is. */
  inputSchema?: unknown;
  /**
   * Whether the vendor makes the model follow the schema, where it can (Anthropic, OpenAI, Bedrock, Gemini). Such
   * a schema must stay within the vendor's subset of JSON Schema.
   */
  strict?: boolean;
  /**
   * JSON Schema of the input with the bound fields, against which a call is checked; present only when the model
   * is not shown all fields.
   */
  fullSchema?: unknown;
  /** Fields that your code fills in. */
  bindings?: readonly Binding[];
  /**
   * Characters of a result that the model is shown, a positive integer. Default: the agent's
   * `toolCalls.maxResultChars`.
   */
  maxResultChars?: number | null;
  /**
   * Whether looplet checks the input against the schema before the call. The engine does not if a Standard Schema
   * does. Empty arguments of a tool with required fields are an error in any case.
   */
  validate?: boolean;
  /** Whether the tool changes nothing, so that its calls may run beside other read-only calls. */
  readOnly?: boolean;
  /** Your code sees the calls before they run, for a Standard Schema or a `resourceKey`. */
  prepare?: boolean;
  /**
   * The fate of a call that was under way when the process ended. `safe` runs it again. `once` asks your code:
   * such a call starts only when the save of its start is confirmed, and never early. A save outlives a crash only
   * with a store: a run without one warns of tools with `once` (`replay_needs_store`). Default: `safe` for a
   * read-only tool, else `once`.
   */
  replay?: Replay | null;
  /**
   * The version of what the tool does, any text that you change with it. A run that goes on in another process
   * judges a call of another version anew, and asks `reconcile` about one that was let through or had begun.
   * Default: none.
   */
  version?: string | null;
  /**
   * Milliseconds after which looplet gives a call up and tells the model, a positive integer. Default:
   * `timeouts.toolMs`.
   */
  timeoutMs?: number | null;
  /**
   * Calls in one run, a positive integer; further calls get an error result (`call_limit`). Default: any number.
   */
  maxCalls?: number | null;
  /** Each call waits until your code approves it. */
  needsApproval?: boolean;
  /** Your code says of each call whether it waits for an approval. */
  mayNeedApproval?: boolean;
  /**
   * The kind of access that permission modes and the specifiers of rules look at. Default: none, or the kind that
   * a well-known tool name implies.
   */
  access?: ToolAccess | null;
  /**
   * The input field that permission rules compare their specifiers with. The mode `acceptEdits` looks at
   * it too: an edit that shows no path there needs a decision. Default: by `access`.
   */
  ruleSubject?: string | null;
  /**
   * Whether the model gets the definition only when it has found the tool by a search. Vendors that have such a
   * search (Anthropic, OpenAI) run it; elsewhere the model gets the tools `search_tools` and `call_tool`. Default
   * false.
   */
  deferLoading?: boolean;
  /** Set for a tool by which the model reaches those with `defer_loading`. */
  loader?: Loader | null;
  /** The answer tool, by which the model gives its structured answer. Your code never sees it. */
  answers?: boolean;
  /** The agent of the run that answers the calls. */
  agent?: AgentTool | null;
  /** Set for a tool that the vendor defines. */
  vendor?: VendorTool | null;
}

/** A field of a tool's input that is filled in from the run's inputs. */
export interface Binding {
  /** The name of a field of the tool's input. */
  field: string;
  /** The name of one of the run's inputs. */
  input: string;
}

/** The fate of a call that was under way when the process ended. */
export type Replay = "safe" | "once";

/** A tool that is an agent. */
export interface AgentTool {
  /** The index of its configuration: 0 is the run's own, 1 the first of the other agents. */
  profile?: number;
  /** Each call goes on where the last one ended. */
  keep?: boolean;
  /** The agent takes the conversation over instead of answering the call. */
  handoff?: boolean;
  /** Your code is called before the agent takes the conversation over. Its error keeps the conversation here. */
  callsHost?: boolean;
  /** Your code chooses the messages that the agent begins with. */
  filters?: boolean;
  /** The agent asks the model of its caller. */
  inheritModel?: boolean;
}

/** A tool that the vendor defines. Its entry goes into the request's list of tools in the vendor's own form. */
export interface VendorTool {
  /** The wire protocol whose requests have the entry. Default: that of the agent's model. */
  protocol?: string | null;
  /** The entry. `None` for a tool that another entry brings along: a member of a toolset. */
  entry?: unknown;
  /** Headers of requests with the entry. Values that are lists are joined with those of other entries. */
  headers?: readonly [string, string][];
  /** Fields of requests with the entry. Objects are merged and lists are joined; the model's `body` wins. */
  body?: unknown;
  /** Whether the vendor runs the calls. */
  hosted?: boolean;
  /** The type of the items that are calls of the tool, for a tool that the model does not call by a name. */
  item?: string | null;
}

/** The limits that end a run early. */
export interface Limits {
  /**
   * Model calls of one run, a positive integer. Default 50, or as many as `maxToolRounds`, `iterationCount(n)` and
   * `output.maxRetries` need. A run that wants more is `stopped` by `iterations`.
   */
  maxIterations?: number | null;
  /** Input plus output tokens of one run, a positive integer. A run that uses more is `stopped` by `tokens`. */
  maxTotalTokens?: number | null;
  /** The cost of one run, in nano-USD; default: no limit. The run stops when it has cost more. */
  maxCostNanoUsd?: number | null;
  /**
   * Answers with tool calls in one run, a non-negative integer. A final answer is always allowed; further calls
   * end the run as `stopped` by `tool_rounds`. With 0 the calls of the first answer are left to you:
   * `result.toolCalls` has them.
   */
  maxToolRounds?: number | null;
  /**
   * Tool calls of one run with its subagents, a positive integer. An answer that would exceed it ends the run as
   * `stopped` by `tool_calls`, before its tools run.
   */
  maxToolCalls?: number | null;
  /** Levels of subagents below the run's own agent, from 1 to 8. Default 1: subagents have no subagents. */
  maxSubagentDepth?: number;
  /**
   * Whether limits of tokens and money also count estimates of usage that no vendor has reported yet. Estimates
   * cover the request that is about to be sent, the answer that streams, and whole answers of servers that never
   * report usage. A request's estimate is reserved, so that parallel subagents see each other's, and a request
   * that does not fit in the rest of the limit is not sent. An estimate takes 3.5 bytes for a token. Default
   * false: only reported usage counts.
   */
  estimateUsage?: boolean;
}

/**
 * Asks for answers that fit a schema. Each answer is checked, and an answer that does not fit is asked for again.
 */
export interface OutputFormat {
  /** The schema's name for the vendor, and the tool's name in tool mode. */
  name?: string;
  /** A description of the answer, for the model; used in tool mode. Default: none. */
  description?: string;
  /** JSON Schema of an object. */
  schema?: unknown;
  /**
   * Whether native mode uses the vendor's strict mode, for vendors that let you choose. Default: true if the
   * schema allows it.
   */
  strict?: boolean | null;
  /** How the answer is requested. */
  mode?: OutputMode;
  /** True when the engine checks answers against the schema; false when a Standard Schema does. */
  validate?: boolean;
  /** Your code checks answers, too. */
  ask?: boolean;
  /**
   * How often looplet asks again for an answer that does not fit the schema, a non-negative integer. After the
   * last try the run is `stopped` by `structured_output`.
   */
  maxRetries?: number;
}

/** When and how the history is made shorter. */
export interface ContextPolicy {
  /**
   * Tokens that the model can read, a positive integer. Default: what is known of the model. Where nothing is,
   * looplet learns only from the vendor's error that the window is full.
   */
  window?: number | null;
  /**
   * Whether looplet summarises when the window is nearly full, or when the vendor says that it is. `run.compact()`
   * works in any case.
   */
  auto?: boolean;
  /** The share of the window that may be full, in percent; default 80. */
  thresholdPercent?: number;
  /** Answers of the model that stay as they are, with their tools' results, a non-negative integer. */
  keepLast?: number;
  /** Further wishes for the summary. */
  instructions?: string | null;
  /** Your code writes the summary. */
  ask?: boolean;
  /** The vendor of the model writes the summary where it can. */
  byVendor?: boolean;
  /**
   * Characters of a request, a positive integer. looplet drops messages from the front of a longer request and
   * puts a few lines about them in their place. No model is asked.
   */
  maxChars?: number | null;
  /** How old answers are shortened; default: never. */
  pruning?: Pruning | null;
}

/**
 * Steps against tool calls that repeat. A call repeats if it has the same input and the same result as an earlier
 * one, within one answer or in consecutive answers. A cycle of up to four rounds counts too.
 *
 * Each number says how often calls repeat before the step. A step may not come before the one above it, and
 * `stopAfter` must be the greatest. `null` switches a step off. Steps that you leave out adapt to the others: at
 * least twice the one before, less than `stopAfter`.
 */
export interface RepeatPolicy {
  enabled?: boolean;
  /** The model is told about it, beside the results. Default 3. */
  nudgeAfter?: number | null;
  /** `onRepeat` is called; without that function the model is told again. Default 6. */
  askAfter?: number | null;
  /** The run is `stopped` by `repeat`. Default 20. */
  stopAfter?: number | null;
}

/** The current permissions of a run. Answers of your code can add rules and switch the mode. */
export interface Permissions {
  mode?: PermissionMode;
  /** Rules whose calls run without a question. A name with a `*` must name its MCP server (`mcp__files__*`). */
  allow?: readonly string[];
  /** Rules whose calls need a decision in every mode; `"dontAsk"` denies them. */
  ask?: readonly string[];
  /** Rules whose calls never run. A rule without a specifier hides the tool from the model. */
  deny?: readonly string[];
  /**
   * The folder of relative paths, from the root on (`/srv/app`). Rules then compare the place that a path names,
   * calls with `access: "read"` below it need no rule, and `"acceptEdits"` takes absolute paths below it. Default:
   * nobody knows it.
   */
  cwd?: string | null;
  /** Further folders like `cwd`, which they need. Default: none. */
  additionalDirectories?: readonly string[];
  /**
   * Whether calls that would change the settings of agents, shells, repositories and editors (`.claude`, `.git`,
   * `.bashrc` …) are asked about although a rule or hook allows them. Without `canUseTool` they are denied.
   * Default false.
   */
  protectSettings?: boolean;
  /** Your code has a function that can be asked. Without one, a call that nothing allows is denied. */
  canUseTool?: boolean;
}

/** One hook or guardrail, without its function. */
export interface Hook {
  event: Point;
  /** The tools, or other names, to which it applies; default: all. */
  names?: readonly string[] | null;
  /** The time after which it counts as failed, in milliseconds; default: none. */
  timeoutMs?: number | null;
  /** Its failure counts as a denial; default: it is passed over with a warning. */
  blocks?: boolean;
}

/** The bounds of one answer of a model, and how looplet treats one that is not whole. */
export interface AnswerPolicy {
  /**
   * Blocks of one answer, tool calls among them, a positive integer. An answer with more fails as
   * `malformed_stream`.
   */
  maxBlocks?: number;
  /**
   * Bytes of text and reasoning of one answer, a positive integer up to 64 MiB (67,108,864). An answer with more
   * fails as `malformed_stream`.
   */
  maxTextBytes?: number;
  /**
   * Bytes of tool arguments and media of one answer, a positive integer up to 128 MiB (134,217,728). An answer
   * with more fails as `malformed_stream`.
   */
  maxArgumentBytes?: number;
  /**
   * Bytes of one event of a stream, and of a body that comes whole, a positive integer up to 256 MiB
   * (268,435,456). A longer one fails as `malformed_stream`.
   */
  maxEventBytes?: number;
  /**
   * Bytes of a failed response's body that are read, a positive integer up to 64 MiB (67,108,864). The request is
   * cancelled behind them, and the failure tells what has come. `timeouts.errorBodyMs` is the time for it.
   */
  maxErrorBodyBytes?: number;
  /** How looplet treats an answer without tool calls that the limit of output tokens cut off. */
  onMaxTokens?: OnOutputLimit;
  /**
   * How looplet asks again for an answer that broke off: the connection was lost, or the process ended and the run
   * has a `store`.
   */
  onCutOff?: OnCutOff;
  /**
   * Whether a run fails (code `finish_reason`) when an answer ends in any way but finished, paused or with tool
   * calls. An answer that says it is finished then ends the run, even with calls beside it. Default false: a run
   * continues as long as there are calls.
   */
  strictStopReason?: boolean;
}

/** How tool calls run, and what the model reads of them. */
export interface ToolCallPolicy {
  /** Which calls of one answer may run at the same time. Results always keep the order of the calls. */
  execution?: ToolExecution;
  /** Tool calls that run at once, a positive integer. */
  maxConcurrency?: number;
  /**
   * Characters (code points) of a tool's result that the model sees, a positive integer. A longer result is cut
   * there, with a note of how much is missing and a `warning` event (`result_cut`). Events and `result.toolCalls`
   * have the whole result, and media are never cut. A tool's `maxResultChars` wins.
   */
  maxResultChars?: number;
  /**
   * Whether calls of tools with `readOnly: true` start as soon as they are complete, while the rest of the answer
   * still streams. If the attempt fails, its calls are aborted and forgotten. No call starts early when there is
   * an output guardrail.
   */
  eager?: boolean;
  /**
   * Whether the last call of an answer runs if its arguments are complete JSON and the limit of output tokens
   * ended the answer right behind them. Default false: gateways close the JSON of arguments that a model did not
   * finish, so the call gets an error result (`cut_off`). A call that `toolCalls.eager` has started already keeps
   * its result.
   */
  runCutOff?: boolean;
  /**
   * Whether the model reads, in a text block behind the result, the input with which a tool ran, if an approval, a
   * hook or a guardrail changed it. Fields that `bindings` fill are left out. `false` is for changes that the
   * model must not see. Default true.
   */
  tellUpdatedInput?: boolean;
  /** Your code words the failed calls of each round for the model; default: their structured errors. */
  wordErrors?: boolean;
  /** How a call of an unknown tool is answered. */
  onUnknownTool?: OnUnknownTool;
  /** Pairs of names: a call of the first is a call of the second, if there is such a tool. */
  aliases?: readonly [string, string][];
}

/** Which events a run tells. */
export interface EventPolicy {
  /** Whether deltas of one block that arrive in the same network chunk are delivered as one event. */
  joinDeltas?: boolean;
  /**
   * Whether the text of an answer is told only when the answer is over and has no tool calls, as one delta a
   * block. Default false: text streams.
   */
  holdText?: boolean;
  /** Whether each whole message of the transcript is an event. Default false. */
  messages?: boolean;
  /**
   * Whether `attempt-start` says what each request shares with the one before it, and what changed its beginning.
   * Default false, and true in a run that is recorded.
   */
  prefix?: boolean;
}

/**
 * Processes in a row that may end with a run and bring it no further: no message and no finished call has come. Then
 * it is `stopped` by `recovery_exhausted`. A process that ended while a person was asked does not count, and neither
 * does one that gave its runs up with `agent.close({ recoverable: true })`.
 */
export interface Recovery {
  /**
   * Processes that ended while a function of a tool ran, which may have been the cause; a positive integer. Losses
   * of the WebAssembly instance count here too.
   */
  maxCrashes?: number;
  /**
   * All other processes, a positive integer. They ended while the model was asked, for example by a deploy or a
   * closed tab.
   */
  maxInterruptions?: number;
}
