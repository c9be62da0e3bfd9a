/** The check of a query's `host`, of which a query may use a part only in the middle of its work. */
import { portProblem } from "../../../extras/tools/ports.js";
import { wrong } from "./check.js";
import type { QueryHost } from "./types.js";

const FUNCTIONS = ["model", "fetch", "mcpFetch", "random", "ids"] as const;

/** @throws TypeError that names the field. Fields of other facades may be there. */
export function checkHost(host: QueryHost): void {
  for (const name of FUNCTIONS)
    if (host[name] !== undefined && typeof host[name] !== "function")
      wrong(`options.host.${name}`, "needs a function");
  const problem = portProblem(host);
  if (problem !== undefined) wrong(`options.host.${problem.port}`, problem.needs);
  if (host.home !== undefined && typeof host.home !== "string")
    wrong("options.host.home", "needs the path of a folder");
}
