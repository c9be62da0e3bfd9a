/**
 * A plugin for Vite. In `vite dev` it wraps exported agents in `hotAgent`, and lets their modules take their own
 * changes. It does nothing in a build.
 */

/** The part of Vite's `Plugin` that is used; those of Vite 6, 7 and 8 take it. @beta */
export interface HotReloadPlugin {
  name: string;
  apply: "serve";
  config(): { optimizeDeps: { include: string[] } };
  transform(
    this: { parse(code: string): unknown },
    code: string,
    id: string,
    options?: { ssr?: boolean | undefined },
  ): { code: string; map: null } | null;
}

/**
 * Lets a page continue its runs when the module of their agent changes: `plugins: [hotReload()]`. It applies to
 * agents that a module creates with `createAgent(…)` and exports.
 *
 * @beta
 */
export function hotReload(): HotReloadPlugin {
  return {
    name: "looplet:hot-reload",
    apply: "serve",
    // Vite reloads a page when it finds a dependency that it does not know.
    config: () => ({ optimizeDeps: { include: ["looplet/vite"] } }),
    transform(code, id, { ssr = false } = {}) {
      const [path = ""] = id.split("?");
      if (ssr || !/\.[cm]?[jt]sx?$/.test(path) || /\/node_modules\//.test(path)) return null;
      if (!code.includes("createAgent")) return null;
      const agents = exportedAgents(parsed(() => this.parse(code)));
      return agents.length === 0 ? null : { code: hotCode(code, agents, path), map: null };
    },
  };
}

/** A call of `createAgent` in the code, and the name of the agent that it makes. */
interface AgentCall {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The code with its agents wrapped. All lines keep their numbers. */
function hotCode(code: string, agents: readonly AgentCall[], path: string): string {
  let hot = code;
  for (const { name, start, end } of [...agents].sort((one, other) => other.start - one.start)) {
    const call = hot.slice(start, end);
    hot = `${hot.slice(0, start)}${HOT}(${call}, import.meta.hot, ${JSON.stringify(name)})${hot.slice(end)}`;
  }
  const told = JSON.stringify(`[looplet] ${path} could not be loaded${STAYS}`);
  const accept = `import.meta.hot.accept((changed) => changed ?? console.warn(${told}))`;
  return `import { hotAgent as ${HOT} } from "looplet/vite"; if (import.meta.hot) ${accept}; ${hot}`;
}

const HOT = "__looplet_hotAgent";
const STAYS = ". Its agents and their runs continue with the previous code.";

/** The parts of a syntax tree (ESTree) that are read. */
interface Program {
  readonly body: readonly Node[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly source?: { readonly value: string } | null;
  readonly specifiers?: readonly Record<"local" | "imported", Node>[];
  readonly declarations?: readonly { readonly id: Node; readonly init: Node | null }[];
  readonly declaration?: Node | null;
  readonly callee?: Node;
  readonly expression?: Node;
}

/** The statements of the code. Empty if it is not valid JavaScript, which Vite itself reports. */
function parsed(parse: () => unknown): readonly Node[] {
  try {
    return (parse() as Program).body;
  } catch {
    return [];
  }
}

/** The agents that the module makes and exports, by the names of their variables. */
function exportedAgents(body: readonly Node[]): AgentCall[] {
  const makers = body.flatMap(makersIn);
  const made = (node: Node | null | undefined, name: string): AgentCall[] => {
    const call = node?.type === "ParenthesizedExpression" ? node.expression : node;
    const isMade = call?.type === "CallExpression" && makers.includes(call.callee?.name ?? "");
    return isMade ? [{ name, start: call.start, end: call.end }] : [];
  };
  const exported = body.flatMap(exportedIn);
  const variables = body.flatMap((node) => (node.declaration ?? node).declarations ?? []);
  return [
    ...variables.flatMap(({ id, init }) => (exported.includes(id.name) ? made(init, id.name!) : [])),
    ...body.flatMap(({ type, declaration }) =>
      type === "ExportDefaultDeclaration" ? made(declaration, "default") : [],
    ),
  ];
}

/** The local names of `createAgent` of looplet. */
function makersIn({ type, source, specifiers = [] }: Node): string[] {
  if (type !== "ImportDeclaration" || !/^looplet(\/|$)/.test(source?.value ?? "")) return [];
  return specifiers.flatMap(({ local, imported }) => (imported?.name === "createAgent" ? [local.name!] : []));
}

/** The local names of variables that a statement exports. */
function exportedIn({ type, source, declaration, specifiers = [] }: Node): (string | undefined)[] {
  if (type === "ExportDefaultDeclaration") return [declaration?.name];
  if (type !== "ExportNamedDeclaration" || source) return [];
  return [
    ...(declaration?.declarations ?? []).map(({ id }) => id.name),
    ...specifiers.map(({ local }) => local.name),
  ];
}
