// @ts-check
import { tool } from "looplet";

/** A tool that asks the user in the middle of its call, by a form. */
export const dinner = {
  plan_dinner: tool({
    description: "Plans a dinner: asks the user for the guests and says what to buy.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    readOnly: true,
    execute: async (_, { elicit }) => {
      const { action, content } = await elicit({
        message: "Who comes to dinner?",
        requestedSchema: {
          type: "object",
          properties: {
            guests: { type: "integer", title: "Guests", minimum: 1, maximum: 12 },
            dish: { type: "string", title: "Dish", enum: ["Risotto", "Curry", "Pancakes"] },
            dessert: { type: "boolean", title: "With a dessert" },
            note: { type: "string", title: "Allergies" },
          },
          required: ["guests", "dish"],
        },
      });
      if (action !== "accept") return { planned: false };
      return { planned: true, ...content };
    },
  }),
};
