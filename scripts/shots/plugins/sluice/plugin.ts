import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";

/** A tool that a person must allow, for the pictures of such a question. */
export default definePlugin({
  id: "sluice",
  title: "Sluice",
  setup: () => ({
    tools: [
      defineTool({
        id: "sluice.open",
        spec: {
          name: "open_sluice",
          description: "Opens the sluice of the mill race by some centimetres",
          parameters: {
            type: "object",
            properties: { centimetres: { type: "number" }, reason: { type: "string" } },
            required: ["centimetres"],
          },
        },
        approval: "ask",
        run: async ({ centimetres }) => `The sluice stands ${String(centimetres)} cm higher.`,
      }),
    ],
  }),
});
