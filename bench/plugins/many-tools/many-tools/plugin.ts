import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";

/** `BENCH_TOOLS` tools that do nothing, with schemas as tool servers have them. */
export default definePlugin({
  id: "many-tools",
  title: "Bench: many tools",
  setup: () => ({
    tools: Array.from({ length: Number(process.env["BENCH_TOOLS"] ?? 1) }, (_, index) =>
      defineTool({
        id: `bench.${index}`,
        spec: {
          name: `bench_${index}`,
          description: `Tool ${index} of the bench: finds records of a kind between two dates and sums them up.`,
          parameters: {
            type: "object",
            properties: {
              query: { type: "string", description: "Words that records must have" },
              from: { type: "string", format: "date-time", description: "The first moment" },
              until: { type: "string", format: "date-time", description: "The last moment" },
              kinds: { type: "array", items: { enum: ["letter", "call", "visit"] } },
              limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
            },
            required: ["query"],
          },
        },
        run: async () => "done",
      }),
    ),
  }),
});
