import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { toolListings } from "#plugins/tools/service.ts";

/** Tools and servers as an office has them, for the menu of tools. */
const listed = [
  { id: "letters", name: "Letters", meta: { description: "Writes letters in the house style" } },
  { id: "stones", name: "Stone register", meta: { description: "Age and dressing of the mill stones" } },
  {
    id: "server:board",
    name: "River board",
    description: "Gauges, warnings and notices",
    server: { type: "openapi" as const },
  },
  {
    id: "server:mcp:weather",
    name: "Weather",
    description: "Forecasts by valley",
    server: { type: "mcp" as const },
  },
  {
    id: "server:mcp:ledger",
    name: "Ledger",
    description: "Accounts of the mill",
    server: { type: "mcp" as const },
    authenticated: false,
  },
];

/** A tool that a person must allow, for the pictures of such a question. */
export default definePlugin({
  id: "sluice",
  title: "Sluice",
  setup: () => ({
    fills: [fill(toolListings, { list: async () => listed })],
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
