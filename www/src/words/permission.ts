/** The permission modes of the page. */
import type { PermissionMode } from "looplet";

/** The modes that the user can select here. `auto` would need a classifier. */
export const modes = {
  default: { label: "Ask first", title: "Tools that change something wait for you" },
  plan: { label: "Plan only", title: "Tools that change something are held back" },
  acceptEdits: { label: "Accept edits", title: "Notes are saved without asking. Everything else asks" },
  dontAsk: { label: "Never ask", title: "Calls that no rule allows are refused" },
  bypassPermissions: { label: "Run everything", title: "No tool asks" },
} as const satisfies Partial<Record<PermissionMode, { label: string; title: string }>>;

export type Mode = keyof typeof modes;

/** Tools that change nothing: they run in every mode. */
export const harmless = ["calculator", "time", "list_notes", "plan_dinner", "read_document", "slow_lookup"];

/** A part of looplet's reason for denying a call in the mode `plan`. */
export const heldBack = "plan mode";
