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
   * Starts the run. A run that is restored from a checkpoint resumes as for `PickUp` if it started with this
   * prompt. Otherwise it fails.
   */
  | {
      prompt: {
        content: readonly Block[];
      };
    }
  /** Resumes a run that is restored from a checkpoint, including one that was stopped. */
  | "resume"
  /** Resumes a run that is restored from a checkpoint. A run that has ended ends again with the same outcome. */
  | "pickUp"
  /** Resumes a run after its WebAssembly instance was lost, in the process that started it. */
  | {
      recover: {
        /** The calls whose functions are still running, or whose results were not delivered. */
        running: readonly number[];
        /** The number of the next event, which no listener has received. */
        nextEvent: number;
        /** The number of blocks of the root's open answer that your listeners have received. */
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
   * The head of a response. Header names may have any case. A redirect has a status from 300 to 399, or 302 if the
   * platform hides it. It has the origin of its target as `location` if that is readable.
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
   * A running call asks the user, with the number of its question, from 1. A call that runs again asks with the
   * same numbers, and gets the answers from the journal.
   */
  | {
      toolAsks: {
        call: number;
        number: number;
        request: unknown;
      };
    }
  /** A running call has a new state from which it can resume, or can no longer resume from the last one. */
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
  /** The store has not saved this number of entries, starting with number `since`. `why` is its error. */
  | {
      notSaved: {
        entries: number;
        since: number;
        why: string;
      };
    }
  /** Your listeners have received everything before the handover. */
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
   * Summarises the root's history before its next request. `instructions` is guidance for the summary. With
   * `only`, the run then ends. Its prompt follows this input and is empty.
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
   * Sets the minimum number of the next event. It precedes `Resume`, because listeners have received events of
   * another process that are not in the journal.
   */
  | {
      numberFrom: {
        event: number;
      };
    }
  /** Ends the work of this process. The journal records no end, so another process can resume the run. */
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
  /** A result after which the run ends, if the round's other calls have such results too. It is never nested. */
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
  /** True if the run should stop. */
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
  /** The messages that the next agent starts with. */
  | {
      filtered: readonly Message[];
    }
  /** An answer that changes inputs, with the platform's readings of the texts in them. */
  | {
      read: {
        readings: readonly Reading[];
        answer: Answer;
      };
    }
  /** Your code could not answer. The point's default applies. */
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
   * `PreToolUse` (not with `"defer"`), `PermissionRequest`: the tool's new input. The history has the model's
   * input, and the model reads the new one next to the result.
   */
  updatedInput?: { [field: string]: unknown } | null;
  /** `PostToolUse`: the new output for the model, the events and the result. */
  updatedOutput?: unknown;
  /** The messages with which the conversation continues. */
  messages?: readonly Message[] | null;
  /** Additional texts for the model. */
  context?: readonly string[];
  /** The reason to end the run. Absent if the run continues. */
  stop?: string | null;
  /** `PermissionDenied`: whether the model may retry the call. */
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
  /** The number by which the TypeScript knows the model. Each request has it, so that the right key is used. */
  slot?: number;
  /** The name of a vendor row (`anthropic`, `openai`, …), or `compatible` or `custom`. */
  vendor?: string;
  /** The wire protocol's name; default: the vendor's own. */
  protocol?: string | null;
  model?: string;
  /**
   * The URL before the protocol's path, for example the URL of your proxy, without a query or a hash. The version
   * (`/v1`), a trailing slash and the endpoint's path are optional. A relative URL is resolved against the page.
   * To add a query, pass your own `fetch`. Default: the vendor's.
   */
  baseUrl?: string | null;
  /**
   * The vendor's own base URL, for a vendor without a row in the engine. It completes a `base_url` without a path.
   */
  vendorUrl?: string | null;
  /** Additional request headers, in order. They never contain a key: `authorize` adds it. */
  headers?: readonly [string, string][];
  /** Whether the answer is streamed. */
  stream?: boolean;
  /**
   * Whether the vendor stores the conversation between requests, so that a request sends only what is new. The
   * vendor stores the content for a short time. Tokens cost the same. Only for Anthropic's message threads.
   * Default: false.
   * <https://platform.claude.com/docs/en/build-with-claude/message-threads> (2026-11-29)
   */
  serverState?: boolean | null;
  /**
   * Maximum number of tokens in one answer, a positive integer. Default: the vendor's. If the protocol requires a
   * number, it is 8192, 32,000 for a model that thinks, and 64,000 with an effort above `high`.
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
  /** Texts that end the answer. Default: none. */
  stopSequences?: readonly string[];
  /** `{ budgetTokens }` for extended thinking, as Anthropic has it, or the vendor's own object. Default: none. */
  thinking?: { [field: string]: unknown } | null;
  /**
   * How much the model thinks, for vendors that support it. If a model is known to reject it, looplet leaves it
   * out and emits the warning `effort_not_sent`. Default: the vendor's.
   */
  effort?: Effort | null;
  /** Whether the model must call a tool, and which one. Default: the vendor's (`"auto"`). */
  toolChoice?: ToolChoice | null;
  /**
   * Whether one answer may have several calls. With `false`, looplet asks the vendor for at most one. Default: the
   * vendor's.
   */
  parallelToolCalls?: boolean | null;
  /** The schema of the answer's text, which is then JSON. Default: any text. */
  responseFormat?: ResponseFormat | null;
  promptCaching?: PromptCaching;
  /** Data that the vendor stores with the request, for example `{ user_id }` for Anthropic. Default: none. */
  metadata?: { [field: string]: unknown } | null;
  /** Fields that are added to the request body. They override looplet's own. Default: none. */
  body?: { [field: string]: unknown } | null;
  /**
   * A JSON object that lists how the server deviates from its protocol's documentation: see
   * `quirks`. Default: the deviations in the vendor's row.
   */
  quirks?: unknown;
  price?: Price | null;
  /**
   * The prices of other models that the vendor uses within a request because `body` names them, such as an advisor
   * or a fallback. Tokens of a model without a price here cost as much as those of the requested model.
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
  /** The number of input tokens above which the long-context price applies to the whole call. Default: none. */
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
  /** The validated input for the tool. The history keeps the model's own text. */
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

/** The answer to what happened to a call that had started in another process. */
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
  /** Conditions that end the run after a round of tools. One that is true is enough. */
  stopWhen?: readonly StopCondition[];
  /** Whether your code is asked after each round of tools if the run should stop. */
  askStop?: boolean;
  /** The form that answers must have; default: any text. */
  output?: OutputFormat | null;
  /** When and how the history is shortened. */
  context?: ContextPolicy;
  repeat?: RepeatPolicy;
  /** Whether your code is asked about repeated rounds. */
  askRepeat?: boolean;
  /** When and how looplet repeats a failed model call. */
  retry?: RetryPolicy;
  /** The models to try, in this order, after a model's retries are used up. */
  fallbackModels?: readonly ModelConfig[];
  /** Which calls may run; default: every call, except calls of tools that need an approval. */
  permissions?: Permissions | null;
  /** Hooks and guardrails, in the order in which they are called. Default: none. */
  hooks?: readonly Hook[];
  /** The limits of a model's answer, and how looplet treats an incomplete one. */
  answers?: AnswerPolicy;
  /** How tool calls run, and what the model reads of them. */
  toolCalls?: ToolCallPolicy;
  /** Which events a run emits. */
  events?: EventPolicy;
  /** How many crashes and interruptions of its process a run with a `store` survives. */
  durable?: Recovery;
  /** How many of the waiting steers one model call includes. */
  steeringMode?: QueueMode;
  /** How many of the waiting follow-ups are sent when the model has finished. */
  followUpMode?: QueueMode;
  /** Whether the steps of effects are saved. Without a journal, nothing is saved and nothing waits for a save. */
  journal?: boolean;
  /** Whether events have their time, and tool calls the hash of their input. */
  trace?: boolean;
  /** The configurations of the agents that tools call. The first has profile 1. Their own `agents` are empty. */
  agents?: readonly Config[];
}

/** One tool, without its function, which is in JavaScript. */
export interface ToolConfig {
  name?: string;
  description?: string;
  /** JSON Schema of the input, sent to the model unchanged. */
  inputSchema?: unknown;
  /**
   * Whether the vendor enforces the schema, where it can (Anthropic, OpenAI, Bedrock, Gemini). Such a schema must
   * be within the vendor's subset of JSON Schema.
   */
  strict?: boolean;
  /**
   * JSON Schema of the input including the bound fields, used to check calls. Present only if some fields are
   * hidden from the model.
   */
  fullSchema?: unknown;
  /** Fields that your code fills in. */
  bindings?: readonly Binding[];
  /**
   * Maximum number of characters of a result that the model sees, a positive integer. Default: the agent's
   * `toolCalls.maxResultChars`.
   */
  maxResultChars?: number | null;
  /**
   * Whether looplet checks the input against the schema before the call. The engine does not if a Standard Schema
   * does. Empty arguments of a tool with required fields are always an error.
   */
  validate?: boolean;
  /** Whether the tool changes nothing, so that its calls may run in parallel with other read-only calls. */
  readOnly?: boolean;
  /** Whether your code sees the calls before they run, for a Standard Schema or a `resourceKey`. */
  prepare?: boolean;
  /**
   * What happens to a call that was running when the process ended. `safe` runs it again. `once` asks your code. A
   * call with `once` starts only after the save of its start is confirmed, never early. A save survives a crash
   * only with a store: a run without one warns about tools with `once` (`replay_needs_store`). Default: `safe` for
   * a read-only tool, otherwise `once`.
   */
  replay?: Replay | null;
  /**
   * The version of what the tool does: any text, which you change when the tool changes. When a run resumes, a
   * call of another version is checked again. For a call that was already approved or started, looplet asks
   * `reconcile`. Default: none.
   */
  version?: string | null;
  /**
   * Timeout of a call in milliseconds, a positive integer. The model gets an error result. Default:
   * `timeouts.toolMs`.
   */
  timeoutMs?: number | null;
  /**
   * Maximum number of calls in one run, a positive integer. Further calls get an error result (`call_limit`).
   * Default: no limit.
   */
  maxCalls?: number | null;
  /** Whether each call waits for your code's approval. */
  needsApproval?: boolean;
  /** Whether your code decides for each call if it needs an approval. */
  mayNeedApproval?: boolean;
  /**
   * The kind of access, for permission modes and the specifiers of rules. Default: none, or the kind that a
   * well-known tool name implies.
   */
  access?: ToolAccess | null;
  /**
   * The input field that permission rules compare with their specifiers. The mode `acceptEdits` uses it too: an
   * edit without a path in this field needs a decision. Default: by `access`.
   */
  ruleSubject?: string | null;
  /**
   * Whether the model gets the definition only after it has found the tool by a search. Anthropic and OpenAI run
   * their own search. For other vendors the model gets the tools `search_tools` and `call_tool`. Default false.
   */
  deferLoading?: boolean;
  /** Set for a tool that finds or calls the tools with `defer_loading`. */
  loader?: Loader | null;
  /** Whether it is the answer tool, which the model calls with its structured answer. Your code never sees it. */
  answers?: boolean;
  /** The agent of the run that handles the calls. */
  agent?: AgentTool | null;
  /** Set for a tool that the vendor defines. */
  vendor?: VendorTool | null;
}

/** A field of a tool's input that looplet fills from the run's inputs. */
export interface Binding {
  /** The name of a field of the tool's input. */
  field: string;
  /** The name of one of the run's inputs. */
  input: string;
}

/** What happens to a call that was running when the process ended. */
export type Replay = "safe" | "once";

/** A tool that is an agent. */
export interface AgentTool {
  /** The index of its configuration: 0 is the run's own, 1 the first of `agents`. */
  profile?: number;
  /** Whether each call continues the conversation of the previous one. */
  keep?: boolean;
  /** Whether the conversation is handed off to the agent, instead of returning a result. */
  handoff?: boolean;
  /** Whether your code is called before the handoff. If it throws, there is no handoff. */
  callsHost?: boolean;
  /** Whether your code chooses the agent's first messages. */
  filters?: boolean;
  /** Whether the agent uses its caller's model. */
  inheritModel?: boolean;
}

/** A tool that the vendor defines. The request's list of tools has its entry in the vendor's own format. */
export interface VendorTool {
  /** The wire protocol of the requests that have the entry. Default: that of the agent's model. */
  protocol?: string | null;
  /** The entry. `None` for a tool that another entry includes, such as a member of a toolset. */
  entry?: unknown;
  /** Headers of requests with the entry. List values are joined with those of other entries. */
  headers?: readonly [string, string][];
  /**
   * Fields of requests with the entry. Objects are merged and lists are joined. The model's `body` overrides them.
   */
  body?: unknown;
  /** Whether the vendor runs the calls. */
  hosted?: boolean;
  /** The type of the items that are calls of the tool, for a tool that the model does not call by name. */
  item?: string | null;
}

/** Limits that end a run early. */
export interface Limits {
  /**
   * Maximum number of model calls of one run, a positive integer. Default: 50, or more if `maxToolRounds`,
   * `iterationCount(n)` and `output.maxRetries` need it. A run that needs more is `stopped` by `iterations`.
   */
  maxIterations?: number | null;
  /**
   * Maximum number of input and output tokens of one run, a positive integer. A run that uses more is `stopped` by
   * `tokens`.
   */
  maxTotalTokens?: number | null;
  /** Maximum cost of one run, in nano-USD. Default: no limit. The run stops when it has cost more. */
  maxCostNanoUsd?: number | null;
  /**
   * Maximum number of answers with tool calls in one run, a non-negative integer. A final answer is always
   * allowed. Further calls end the run as `stopped` by `tool_rounds`. With 0, looplet runs no tools, and
   * `result.toolCalls` has the calls of the first answer.
   */
  maxToolRounds?: number | null;
  /**
   * Maximum number of tool calls of one run and its subagents, a positive integer. If an answer would exceed it,
   * the run ends as `stopped` by `tool_calls` before the tools run.
   */
  maxToolCalls?: number | null;
  /** Maximum depth of subagents below the run's own agent, from 1 to 8. Default 1: subagents have no subagents. */
  maxSubagentDepth?: number;
  /**
   * Whether the token and cost limits also count estimates of usage that the vendor has not reported yet: the
   * request that is about to be sent, the answer that is streaming, and complete answers of servers that never
   * report usage. looplet reserves the estimate of each request, so parallel subagents see each other's. A request
   * that does not fit in the rest of the limit is not sent. An estimate counts 3.5 bytes as one token. Default
   * false: only reported usage counts.
   */
  estimateUsage?: boolean;
}

/** Asks for answers that match a schema. looplet checks each answer and asks again if it does not match. */
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
   * How many times looplet asks again after an answer that does not match the schema, a non-negative integer.
   * After the last retry the run is `stopped` by `structured_output`.
   */
  maxRetries?: number;
}

/** When and how the history is shortened. */
export interface ContextPolicy {
  /**
   * The size of the context window in tokens, a positive integer. Default: the known size of the model's window.
   * If it is not known, looplet learns only from the vendor's error that the window is full.
   */
  window?: number | null;
  /**
   * Whether looplet summarises when the window is nearly full, or when the vendor reports that it is full.
   * `run.compact()` works in any case.
   */
  auto?: boolean;
  /** How full the window may be, in percent. Default 80. */
  thresholdPercent?: number;
  /** How many of the last answers stay unchanged, with their tools' results, a non-negative integer. */
  keepLast?: number;
  /** Additional instructions for the summary. */
  instructions?: string | null;
  /** Whether your code writes the summary. */
  ask?: boolean;
  /** Whether the model's vendor writes the summary where it can. */
  byVendor?: boolean;
  /**
   * Maximum number of characters of a request, a positive integer. looplet replaces the oldest messages of a
   * longer request with a few lines about them. It does not ask a model.
   */
  maxChars?: number | null;
  /** How old answers are shortened. Default: never. */
  pruning?: Pruning | null;
}

/**
 * Steps against repeated tool calls. A call is repeated if it has the same input and the same result as an earlier
 * one, in the same answer or in consecutive answers. A cycle of up to four rounds counts too.
 *
 * Each number is how many repetitions trigger the step. A step must not come before the previous one, and
 * `stopAfter` must be the greatest. `null` disables a step. A step that you leave out adapts to the others: at least
 * twice the previous one, and less than `stopAfter`.
 */
export interface RepeatPolicy {
  enabled?: boolean;
  /** looplet notes it next to the results, for the model. Default 3. */
  nudgeAfter?: number | null;
  /** looplet calls `onRepeat`, or repeats the note if you have no `onRepeat`. Default 6. */
  askAfter?: number | null;
  /** The run is `stopped` by `repeat`. Default 20. */
  stopAfter?: number | null;
}

/** The current permissions of a run. Answers of your code can add rules and switch the mode. */
export interface Permissions {
  mode?: PermissionMode;
  /** Rules for calls that run without a question. A name with a `*` must name its MCP server (`mcp__files__*`). */
  allow?: readonly string[];
  /** Rules for calls that need a decision in every mode. `"dontAsk"` denies them. */
  ask?: readonly string[];
  /** Rules for calls that never run. A rule without a specifier hides the tool from the model. */
  deny?: readonly string[];
  /**
   * The base folder of relative paths, an absolute path (`/srv/app`). With it, rules compare the resolved path.
   * Calls with `access: "read"` below it need no rule, and `"acceptEdits"` accepts absolute paths below it.
   * Default: unknown.
   */
  cwd?: string | null;
  /** Additional folders that are treated like `cwd`. They require `cwd`. Default: none. */
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
  /** The tools or other names for which it is called. Default: all. */
  names?: readonly string[] | null;
  /** The timeout in milliseconds, after which it counts as failed. Default: none. */
  timeoutMs?: number | null;
  /** Whether its failure counts as a denial. Default: it is ignored with a warning. */
  blocks?: boolean;
}

/** The limits of a model's answer, and how looplet treats an incomplete one. */
export interface AnswerPolicy {
  /**
   * Maximum number of blocks in one answer, including tool calls, a positive integer. An answer with more fails as
   * `malformed_stream`.
   */
  maxBlocks?: number;
  /**
   * Maximum bytes of text and reasoning in one answer, a positive integer up to 64 MiB (67,108,864). An answer
   * with more fails as `malformed_stream`.
   */
  maxTextBytes?: number;
  /**
   * Maximum bytes of tool arguments and media in one answer, a positive integer up to 128 MiB (134,217,728). An
   * answer with more fails as `malformed_stream`.
   */
  maxArgumentBytes?: number;
  /**
   * Maximum bytes of one stream event, or of a body that is not streamed, a positive integer up to 256 MiB
   * (268,435,456). A longer one fails as `malformed_stream`.
   */
  maxEventBytes?: number;
  /**
   * Maximum bytes that looplet reads of a failed response's body, a positive integer up to 64 MiB (67,108,864).
   * looplet then cancels the request, and the failure has the part that was received. `timeouts.errorBodyMs` is
   * the time limit.
   */
  maxErrorBodyBytes?: number;
  /** How looplet treats an answer without tool calls that reached the limit of output tokens. */
  onMaxTokens?: OnOutputLimit;
  /**
   * How looplet retries an answer that was interrupted: the connection was lost, or the process ended and the run
   * has a `store`.
   */
  onCutOff?: OnCutOff;
  /**
   * Whether a run fails (code `finish_reason`) if an answer ends in any way other than finished, paused or with
   * tool calls. In that mode an answer that reports that it is finished ends the run, even if it has calls.
   * Default false: a run continues as long as there are calls.
   */
  strictStopReason?: boolean;
}

/** How tool calls run, and what the model reads of them. */
export interface ToolCallPolicy {
  /** Which calls of one answer may run at the same time. Results are always in the order of the calls. */
  execution?: ToolExecution;
  /** Maximum number of tool calls that run at the same time, a positive integer. */
  maxConcurrency?: number;
  /**
   * Maximum number of characters (code points) of a tool's result that the model sees, a positive integer. A
   * longer result is cut, with a note of how much is missing and a `warning` event (`result_cut`). Events and
   * `result.toolCalls` have the complete result, and media are never cut. A tool's `maxResultChars` overrides it.
   */
  maxResultChars?: number;
  /**
   * Whether calls of tools with `readOnly: true` start as soon as they are complete, while the rest of the answer
   * still streams. If the attempt fails, its calls are aborted and forgotten. No call starts early when there is
   * an output guardrail.
   */
  eager?: boolean;
  /**
   * Whether the last call of an answer runs if the limit of output tokens ended the answer directly after
   * arguments that are complete JSON. Default false: the call gets an error result (`cut_off`), because gateways
   * close the JSON of arguments that a model did not finish. A call that `toolCalls.eager` has already started
   * keeps its result.
   */
  runCutOff?: boolean;
  /**
   * Whether the model reads the input with which a tool ran, in a text block after the result, if an approval, a
   * hook or a guardrail changed it. Fields filled by `bindings` are left out. Use `false` for changes that the
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

/** Which events a run emits. */
export interface EventPolicy {
  /** Whether deltas of one block that arrive in the same network chunk are emitted as one event. */
  joinDeltas?: boolean;
  /**
   * Whether the text of an answer is held until the answer has ended without tool calls. Each block is then one
   * delta. Default false: text streams.
   */
  holdText?: boolean;
  /** Whether the run emits a `message` event for each complete message of the transcript. Default false. */
  messages?: boolean;
  /**
   * Whether `attempt-start` reports what each request shares with the previous one, and what changed its prefix.
   * Default: false, or true in a run that is recorded.
   */
  prefix?: boolean;
}

/**
 * How many processes in a row may end without progress: no new message and no finished call. After that the run is
 * `stopped` by `recovery_exhausted`. A process does not count if it ended while a user was being asked, or if it
 * closed the agent with `agent.close({ recoverable: true })`.
 */
export interface Recovery {
  /**
   * Maximum number of processes that ended while a tool's function ran and may have caused the end, a positive
   * integer. Crashes of the WebAssembly instance also count here.
   */
  maxCrashes?: number;
  /**
   * All other processes, a positive integer. They ended while the model was asked, for example by a deploy or a
   * closed tab.
   */
  maxInterruptions?: number;
}
