/** A question of a tool in the middle of its call: a form with a field for each property of its schema. */
import type { ElicitationAnswer, ElicitationRequest } from "looplet";
import { Asking } from "./approval.js";
import { Icon } from "./icon.js";

interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface FormProps {
  toolName: string;
  request: ElicitationRequest;
  answer(answer: ElicitationAnswer): void;
}

export function Form({ toolName, request: { message, url, requestedSchema }, answer }: FormProps) {
  const fields = Object.entries((requestedSchema?.["properties"] ?? {}) as { [name: string]: Field });
  const required = (requestedSchema?.["required"] ?? []) as readonly string[];
  const accept = (data: FormData) => {
    const values = fields.map(([name, { type }]) => [name, valueOf(type, data.get(name))] as const);
    answer({
      action: "accept",
      content: Object.fromEntries(values.filter(([, value]) => value !== undefined)),
    });
  };
  return (
    <Asking label={`Question of ${toolName}`} question={message}>
      {url && (
        <a href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
      )}
      <form className="form" action={accept}>
        {fields.map(([name, field]) => (
          <label key={name} className={field.type === "boolean" ? "check" : undefined}>
            <span>{field.title ?? name}</span>
            <Input name={name} field={field} isRequired={required.includes(name)} />
            {field.description && <span className="quiet">{field.description}</span>}
          </label>
        ))}
        <div className="choice">
          <button className="small primary">
            <Icon name="check" />
            Send
          </button>
          <button type="button" className="small ghost" onClick={() => answer({ action: "decline" })}>
            Decline
          </button>
        </div>
      </form>
    </Asking>
  );
}

function Input({ name, field, isRequired }: { name: string; field: Field; isRequired: boolean }) {
  const { type, enum: choices, minimum, maximum } = field;
  if (choices)
    return (
      <select name={name} required={isRequired}>
        {!isRequired && <option value="" />}
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  if (type === "boolean") return <input name={name} type="checkbox" />;
  const isNumber = type === "number" || type === "integer";
  return (
    <input
      name={name}
      type={isNumber ? "number" : "text"}
      step={type === "number" ? "any" : undefined}
      min={minimum}
      max={maximum}
      required={isRequired}
      maxLength={isNumber ? undefined : 1000}
    />
  );
}

function valueOf(type: string | undefined, value: FormDataEntryValue | null) {
  if (type === "boolean") return value === "on";
  if (value === null || value === "") return undefined;
  return type === "number" || type === "integer" ? Number(value) : String(value);
}
