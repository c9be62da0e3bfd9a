/** @jsxImportSource preact */
/** The custom element `<looplet-devtools>`. */
import { render } from "preact";
import type { Agent } from "../../core/api/index.js";
import type { DevtoolsChannel } from "./live/protocol.js";
import { Lab, type DevtoolsHost } from "./model/lab.js";
import { publish, type Publisher } from "./publish.js";
import { App } from "./view/app.js";
import { style } from "./view/style.js";

/** On a server there are no elements: a module that is rendered there may import this one all the same. */
const Element = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * `<looplet-devtools>`. It shows the publishers on the `BroadcastChannel` that the attribute `channel` names.
 *
 * It fills its container, so give that a height.
 *
 * @beta
 */
export class LoopletDevtools extends Element {
  static readonly observedAttributes = ["channel"];
  readonly #lab = new Lab(() => this.#draw());
  readonly #root = this.attachShadow({ mode: "open" });
  #isDue = false;
  #own: Publisher | undefined;
  #leave = (): void => {};

  constructor() {
    super();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    this.#root.adoptedStyleSheets = [sheet];
  }

  connectedCallback(): void {
    this.#join();
    this.#draw();
  }

  disconnectedCallback(): void {
    this.#leave();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#join();
  }

  /** Shows a `.loop` file. An invalid text is reported in the element. */
  open(name: string, text: string): Promise<void> {
    return this.#lab.open(name, text);
  }

  /** Shows the runs of the publishers on a channel. Returns a function that ends it. */
  attach(channel: DevtoolsChannel): () => void {
    return this.#lab.attach(channel);
  }

  /**
   * Agents of this page that can continue runs, with their tools, keys and models. A fork is a new run, outside of
   * the agents' store.
   *
   * @throws LoopletError `config_wrong_type`
   */
  set agents(agents: { readonly [name: string]: Agent }) {
    if (this.#own === undefined) {
      const { port1, port2 } = new MessageChannel();
      this.#own = publish(port2, { name: "this page" });
      this.#lab.attach(port1);
    }
    this.#own.offer(agents);
  }

  /** A page that continues runs in its own way: its `fork` is called instead of an agent. */
  set host(host: DevtoolsHost | undefined) {
    this.#lab.host = host;
    this.#draw();
  }

  #join(): void {
    this.#leave();
    const name = this.getAttribute("channel");
    if (name === null) return;
    const channel = new BroadcastChannel(name);
    const detach = this.#lab.attach(channel);
    this.#leave = () => {
      detach();
      channel.close();
    };
  }

  /** Draws before the next frame, however much has changed until then. */
  #draw(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      if (this.isConnected) render(<App lab={this.#lab} />, this.#root);
    });
  }
}

if (globalThis.customElements?.get("looplet-devtools") === undefined)
  globalThis.customElements?.define("looplet-devtools", LoopletDevtools);
