// @ts-check
import { ToolError, tool } from "looplet";

/** Returns the date and the time in a time zone. */
export const time = tool({
  description: "Current date and time in a time zone.",
  inputSchema: {
    type: "object",
    properties: {
      timeZone: {
        type: "string",
        description: "IANA time zone, for example Asia/Tokyo. Default: that of the user.",
      },
    },
    additionalProperties: false,
  },
  readOnly: true,
  execute: ({ timeZone }) => {
    const format = formatFor(timeZone);
    return { timeZone: format.resolvedOptions().timeZone, local: format.format(new Date()) };
  },
});

/** @param {string | undefined} timeZone */
function formatFor(timeZone) {
  try {
    return new Intl.DateTimeFormat("en-GB", {
      dateStyle: "full",
      timeStyle: "short",
      ...(timeZone ? { timeZone } : {}),
    });
  } catch {
    throw new ToolError({
      code: "unknown_time_zone",
      message: `There is no time zone "${timeZone}".`,
      hint: "Use an IANA name such as Europe/Paris or America/New_York.",
    });
  }
}
