/** Bash, WebFetch, WebSearch, TodoWrite and AskUserQuestion. */
import type { Tool } from "../../core/api/index.js";
import { tool } from "../../core/index.js";
import { isFileCommand, linksOf } from "./command-links.js";
import { failed } from "./files.js";
import type { BashPort, SearchPort, Todo, ToolPorts, WebFetchPort } from "./ports.js";

/** The time limit of a command in milliseconds: the default, and the maximum that the model may request. */
const BASH_MS = 120_000;
const BASH_MAX_MS = 600_000;

export function bashTool(
  bash: BashPort,
  { cwd, env = {}, vfs }: { cwd: string } & Pick<ToolPorts, "env" | "vfs">,
): Tool {
  const links = vfs && linksOf(vfs, cwd);
  return tool({
    description: "Runs a command in a shell and returns what it prints.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string" },
        timeout: {
          type: "integer",
          minimum: 1,
          maximum: BASH_MAX_MS,
          description: "Milliseconds, 120000 by default",
        },
        description: { type: "string", description: "What the command does, in five to ten words" },
      },
      required: ["command"],
    },
    // Commands on files run one after the other: a call may move a link to where the next one writes.
    resourceKey: ({ command }) => (isFileCommand(command) ? "files of Bash" : undefined),
    ...(links && { leadsElsewhere: ({ command }, { toolCallId }) => links.judge(command, toolCallId) }),
    execute: async ({ command, timeout = BASH_MS }, { signal, toolCallId }) => {
      await links?.check(command, toolCallId);
      const { stdout, stderr, exitCode } = await bash.exec(command, {
        signal,
        cwd,
        timeoutMs: timeout,
        env,
      });
      const said = [stdout, stderr].filter((text) => text !== "").join("\n");
      if (exitCode !== 0) throw failed("exit_code", `The command ended with ${exitCode}.\n${said}`);
      return said;
    },
  }) as Tool;
}

export function webFetchTool(webFetch: WebFetchPort): Tool {
  return tool({
    description: "Gets a page of the web. prompt says what you want to know of it.",
    inputSchema: {
      type: "object",
      properties: { url: { type: "string" }, prompt: { type: "string" } },
      required: ["url", "prompt"],
    },
    readOnly: true,
    execute: ({ url, prompt }, { signal }) => {
      if (!/^https?:\/\//i.test(url)) throw failed("invalid_url", "url must begin with http:// or https://");
      return webFetch(url, { prompt, signal });
    },
  }) as Tool;
}

export function webSearchTool(search: SearchPort): Tool {
  const domains = { type: "array", items: { type: "string" } } as const;
  return tool({
    description: "Searches the web.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" }, allowed_domains: domains, blocked_domains: domains },
      required: ["query"],
    },
    readOnly: true,
    execute: async ({ query, allowed_domains, blocked_domains }, { signal }) => {
      const found = await search(query, {
        signal,
        ...(allowed_domains === undefined ? {} : { allowedDomains: allowed_domains }),
        ...(blocked_domains === undefined ? {} : { blockedDomains: blocked_domains }),
      });
      const lines = found.map(({ title, url, snippet }) => [title, url, snippet].filter(Boolean).join("\n"));
      return lines.join("\n\n") || "Nothing was found.";
    },
  }) as Tool;
}

export function todoTool({ onTodos }: ToolPorts): Tool {
  return tool({
    description:
      "Replaces the list of tasks, so that the user sees the progress. One task at most is in_progress; mark each as completed when it is done.",
    inputSchema: {
      type: "object",
      properties: {
        todos: {
          type: "array",
          items: {
            type: "object",
            properties: {
              content: { type: "string", description: "The task, for example: Run the tests" },
              status: { type: "string", enum: ["pending", "in_progress", "completed"] },
              activeForm: {
                type: "string",
                description: "The task while it is in progress, for example: Running the tests",
              },
            },
            required: ["content", "status", "activeForm"],
          },
        },
      },
      required: ["todos"],
    },
    replay: "safe",
    execute: ({ todos }, { progress }) => {
      progress({ todos });
      onTodos?.(todos as readonly Todo[]);
      return "The list is saved. Continue with the next task.";
    },
  }) as Tool;
}

export function askUserTool(): Tool {
  return tool({
    description:
      "Asks the user one to four questions with two to four options each, when you cannot decide alone.",
    inputSchema: {
      type: "object",
      properties: {
        questions: {
          type: "array",
          minItems: 1,
          maxItems: 4,
          items: {
            type: "object",
            properties: {
              question: { type: "string" },
              header: { type: "string", maxLength: 12 },
              options: {
                type: "array",
                minItems: 2,
                maxItems: 4,
                items: {
                  type: "object",
                  properties: { label: { type: "string" }, description: { type: "string" } },
                  required: ["label", "description"],
                },
              },
              multiSelect: { type: "boolean" },
            },
            required: ["question", "header", "options"],
          },
        },
        answers: {
          type: "object",
          description: "Filled in by the user",
          additionalProperties: { type: "string" },
        },
      },
      required: ["questions"],
    },
    readOnly: true,
    needsApproval: true,
    execute: ({ questions, answers = {} }) => {
      const said = questions.map(
        ({ question }) =>
          `${question}: ${(answers as { [question: string]: string })[question] ?? "no answer"}`,
      );
      return said.join("\n");
    },
  }) as Tool;
}
