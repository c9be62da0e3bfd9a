/** The dialog where a connection is chosen. A key that is typed here stays in the memory of the tab. */
import type { Price } from "looplet";
import { useEffect, useLayoutEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { budgetNames, budgets, fieldOf, readBudget, type Limits } from "../words/budget.js";
import { practiceConnection, wires, type Connection, type Wire } from "../words/connection.js";
import { explainThrown } from "../words/failure.js";
import { Icon } from "./icon.js";

const kinds = {
  practice: "Practice provider",
  anthropic: "Anthropic",
  openai_chat: "OpenAI-compatible",
} as const;
type Kind = keyof typeof kinds;

const examples: Record<Kind, { model: string; baseUrl: string }> = {
  practice: { model: "", baseUrl: "" },
  anthropic: { model: "claude-sonnet-5-5", baseUrl: "https://api.anthropic.com" },
  openai_chat: { model: "gpt-6-luna", baseUrl: "https://api.openai.com/v1" },
};

const paces = [
  [24, "Readable"],
  [80, "Slow"],
  [0, "Instant"],
] as const;

const standIn =
  "A simulated model in this page. It uses the vendors' wire formats and plans with simple rules. It needs no key and no network, and nothing leaves your machine.";

interface SettingsProps {
  isOpen: boolean;
  connection: Connection;
  /** Absent: the page has no budgets. */
  limits?: Limits;
  /** The page's own replacement for the practice provider with its wire formats. */
  practice?: string;
  /** Contract: takes the settings over, or throws a `LoopletError` that the dialog shows. */
  apply(connection: Connection, limits: Limits): void;
  close(): void;
}

export function Settings(props: SettingsProps) {
  const { isOpen, connection, apply, close } = props;
  // The vendor that was used last: its fields stay when the practice provider is chosen for a while.
  const vendor = useRef<Exclude<Connection, { kind: "practice" }>>(undefined);
  const practice = useRef(practiceConnection);
  if (connection.kind === "practice") practice.current = connection;
  else vendor.current = connection;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const submit = (connection: Connection, limits: Limits) => {
    apply(connection, limits);
    close();
  };
  return (
    <dialog aria-labelledby="settings-title" className="settings" ref={dialog} onClose={close}>
      {/* What was typed and not taken over is gone with the dialog. */}
      <Form
        key={String(isOpen)}
        {...props}
        practiceModel={practice.current.model}
        vendor={vendor.current}
        submit={submit}
      />
    </dialog>
  );
}

interface FormProps extends SettingsProps {
  practiceModel: string;
  vendor: Exclude<Connection, { kind: "practice" }> | undefined;
  submit(connection: Connection, limits: Limits): void;
}

function Form({ connection, limits, practice, practiceModel, vendor, submit, close }: FormProps) {
  const [kind, setKind] = useState<Kind>(connection.kind);
  const [problems, setProblems] = useState<Problems>();
  const error = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!problems) return;
    error.current?.scrollIntoView({ block: "center" });
    document.getElementsByName(problems.fields[0] ?? "")[0]?.focus({ preventScroll: true });
  }, [problems]);
  const field = (name: string, label: string, attributes: Record<string, unknown>) => (
    <label key={name} className="field">
      <span>{label}</span>
      <input name={name} aria-invalid={problems?.fields.includes(name)} {...attributes} />
    </label>
  );
  const price = { type: "text", autoComplete: "off", inputMode: "decimal", placeholder: "$ per million" };
  const word = { type: "text", autoCapitalize: "off", spellCheck: false };
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const read = readLimits(data, kind !== "practice");
    if (read.problems) return setProblems(read.problems);
    try {
      submit(readConnection(data, practiceModel), read.limits);
    } catch (thrown) {
      const { advice, details } = explainThrown(thrown);
      setProblems({ fields: [], lines: [details], advice });
    }
  };
  // After a new choice or other text the problem may be solved.
  const changed = () => setProblems((known) => known && { ...known, lines: [], advice: undefined });
  return (
    <form method="dialog" noValidate onSubmit={send} onChange={changed}>
      <header>
        <h2 id="settings-title">{limits ? "Connection and budgets" : "Connection"}</h2>
        <button type="button" className="ghost" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <fieldset className="kinds">
        <legend>Model</legend>
        {Object.entries(kinds).flatMap(([value, label]) => [
          <input
            key={value}
            type="radio"
            name="kind"
            id={`kind-${value}`}
            value={value}
            className="hidden"
            checked={kind === value}
            onChange={() => setKind(value as Kind)}
          />,
          <label key={label} htmlFor={`kind-${value}`}>
            {label}
          </label>,
        ])}
      </fieldset>
      <Part legend="Practice provider" isHidden={kind !== "practice"}>
        <p className="quiet">{practice ?? standIn}</p>
        <label className="field" hidden={practice !== undefined}>
          <span>Wire format</span>
          <select name="wire" defaultValue={connection.kind === "practice" ? connection.wire : "anthropic"}>
            {Object.entries(wires).map(([wire, { name }]) => (
              <option key={wire} value={wire}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Pace</span>
          <select name="delayMs" defaultValue={connection.kind === "practice" ? connection.delayMs : 24}>
            {paces.map(([ms, label]) => (
              <option key={ms} value={ms}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </Part>
      <Part legend="Provider" isHidden={kind === "practice"}>
        {field("model", "Model", { ...word, placeholder: examples[kind].model, defaultValue: vendor?.model })}
        {field("apiKey", "Key", { type: "password", autoComplete: "off", defaultValue: vendor?.apiKey })}
        {field("baseUrl", "Base URL (empty: the vendor's own)", {
          ...word,
          type: "url",
          placeholder: examples[kind].baseUrl,
          defaultValue: vendor?.baseUrl,
        })}
        <div className="pair">
          {field("inputPrice", "Input price", { ...price, defaultValue: vendor?.price?.inputUsdPerMillion })}
          {field("outputPrice", "Output price", {
            ...price,
            defaultValue: vendor?.price?.outputUsdPerMillion,
          })}
        </div>
        <div className="notice warning">
          <Icon name="alert" />
          <div>
            <p>
              The key stays in the memory of this tab, is sent only to the address above, and is deleted on
              reload. Scripts and extensions in this page can read it all the same.
            </p>
            <p>
              looplet refuses a vendor&apos;s key in a page unless <code>dangerouslyAllowBrowser: true</code>{" "}
              is set. In a product that would hand your key to every visitor: put a small proxy of your own in
              between.
            </p>
            <label className="check">
              <input
                type="checkbox"
                name="isBrowserKeyAllowed"
                defaultChecked={vendor?.isBrowserKeyAllowed ?? false}
              />
              <span>Allow it: this is my own key in my own browser</span>
            </label>
          </div>
        </div>
      </Part>
      <fieldset className="part" hidden={!limits}>
        <legend>Budgets of one run</legend>
        <p className="quiet">The run stops when a budget is used up. Empty means no limit.</p>
        <div className="triple">
          {budgetNames.map((name) =>
            field(name, fieldOf(name), {
              type: "text",
              inputMode: budgets[name].isWhole ? "numeric" : "decimal",
              autoComplete: "off",
              placeholder: "no limit",
              defaultValue: limits?.[name],
            }),
          )}
        </div>
      </fieldset>
      <div className="form-error" role="alert" ref={error}>
        {problems?.lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
        {problems?.advice !== undefined && <p className="quiet">{problems.advice}</p>}
      </div>
      <footer>
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" className="primary">
          Use this
        </button>
      </footer>
    </form>
  );
}

function Part({ legend, isHidden, children }: { legend: string; isHidden: boolean; children: ReactNode }) {
  return (
    <fieldset className="part" hidden={isHidden}>
      <legend className="hidden">{legend}</legend>
      {children}
    </fieldset>
  );
}

interface Problems {
  fields: readonly string[];
  lines: readonly string[];
  advice?: string | undefined;
}

/** The budgets that were typed, or what is wrong with them or with the prices. */
function readLimits(
  data: FormData,
  hasPrices: boolean,
): { limits: Limits; problems?: undefined } | { problems: Problems } {
  const limits: Limits = {};
  const problems = new Map<string, string>();
  for (const name of budgetNames) {
    const { value, problem } = { value: undefined, ...readBudget(name, textIn(data, name)) };
    if (problem !== undefined) problems.set(name, problem);
    else if (value !== undefined) limits[name] = value;
  }
  const prices = ["inputPrice", "outputPrice"];
  const isOne = prices.filter((name) => textIn(data, name) !== "").length === 1;
  const bad = prices.find(
    (name) => (isOne && textIn(data, name) === "") || !(Number(textIn(data, name)) >= 0),
  );
  if (hasPrices && bad !== undefined)
    problems.set(bad, "Prices: enter both in dollars per million tokens (0 or more), or leave both empty.");
  if (problems.size === 0) return { limits };
  return { problems: { fields: [...problems.keys()], lines: [...problems.values()] } };
}

function readConnection(data: FormData, practiceModel: string): Connection {
  const kind = textIn(data, "kind") as Kind;
  if (kind === "practice") {
    const wire = textIn(data, "wire") as Wire;
    return { kind, model: practiceModel, wire, delayMs: Number(textIn(data, "delayMs")) };
  }
  return {
    kind,
    model: textIn(data, "model"),
    apiKey: textIn(data, "apiKey"),
    baseUrl: textIn(data, "baseUrl"),
    isBrowserKeyAllowed: data.has("isBrowserKeyAllowed"),
    price: priceOf(textIn(data, "inputPrice"), textIn(data, "outputPrice")),
  };
}

const textIn = (data: FormData, name: string) => String(data.get(name) ?? "").trim();

function priceOf(input: string, output: string): Price | undefined {
  return input === "" || output === ""
    ? undefined
    : { inputUsdPerMillion: Number(input), outputUsdPerMillion: Number(output) };
}
