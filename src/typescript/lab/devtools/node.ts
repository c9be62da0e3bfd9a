/**
 * `looplet/devtools/node`: devtools for the agents of a Node, Deno or Bun process. A server on 127.0.0.1 serves a
 * page with `<looplet-devtools>`, which shows the runs of the process as they go.
 */
import { checkOptions } from "../../core/kit/check.js";
import { publish, type Publisher, type PublishOptions } from "./publish.js";
import { listen } from "./served/http-server.js";
import { ServedChannel } from "./served/served-channel.js";

/** @beta */
export interface ServeDevtoolsOptions extends PublishOptions {
  /** The port on 127.0.0.1. Default: any that is free. */
  port?: number | undefined;
  /**
   * Whether to keep the process alive until `close`, so that its runs can be inspected after its work is done.
   * Default false: in Bun a process stays alive as long as a page is open, and elsewhere it exits.
   */
  keepAlive?: boolean | undefined;
  /**
   * Contract: gets one line with the address, when the server listens. `print: console.log` shows it in the terminal.
   * Default: nothing is printed.
   */
  print?: ((line: string) => void) | undefined;
}

/** A server of devtools, and its publisher. @beta */
export interface DevtoolsServer extends Omit<Publisher, "close"> {
  /** The address of the page. Whoever has it reads the runs and lets offered agents run: keep it to yourself. */
  readonly url: string;
  /** Closes the server and its connections. Runs continue. */
  close(): Promise<void>;
}

/**
 * Serves devtools on 127.0.0.1, under an address with a random token: open `url` in a browser. It shows runs of
 * agents with `record`, and offered agents can continue them. For development only.
 *
 * Rejects with a `LoopletError` of code `config_…`, or with the error of the platform if the port is taken.
 *
 * @beta
 */
export async function serveDevtools(given: ServeDevtoolsOptions = {}): Promise<DevtoolsServer> {
  const {
    port = 0,
    keepAlive = false,
    print,
    name,
    keep,
  } = checkOptions(given, "", {
    port: "whole",
    keepAlive: "boolean",
    print: "function",
    name: "text",
    keep: "count",
  });
  const channel = new ServedChannel();
  const publisher = publish(channel, { name, keep });
  const { url, close } = await listen(channel, new URL("../", import.meta.url), { port, keepAlive });
  print?.(`looplet devtools: ${url}`);
  return {
    record: publisher.record,
    offer: (agents) => publisher.offer(agents),
    url,
    close() {
      publisher.close();
      return close();
    },
  };
}
