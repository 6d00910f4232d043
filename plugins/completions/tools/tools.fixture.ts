import { AppError } from "#kernel/errors.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";

/** Every run of a tool: its name, its parameters and who ran it. */
export const runs: { name: string; parameters: unknown; userId: string }[] = [];

const place = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const nothing = { type: "object", properties: {} };

function define(
  id: string,
  name: string,
  more: Partial<Tool> & {
    parameters?: Record<string, unknown>;
    give(parameters: Record<string, unknown>): unknown;
  },
): Tool {
  const { parameters = nothing, give, ...rest } = more;
  return defineTool({
    id,
    spec: { name, description: `The tool ${name}`, parameters },
    async run(given, { principal }) {
      runs.push({ name, parameters: given, userId: principal.userId });
      return give(given);
    },
    ...rest,
  });
}

/** Tools of every kind: built in, of a source with several functions, guarded, failing. */
export const toolbox = definePlugin({
  id: "toolbox",
  title: "Toolbox",
  permissions: [{ path: "features.vault", default: false }],
  setup: () => ({
    tools: [
      define("toolbox.clock", "clock", { give: () => "It is noon." }),
      define("toolbox.vault", "vault", { permission: "features.vault", give: () => "The word is mellon." }),
      define("toolbox.broken", "broken", {
        give() {
          throw new Error("connect to 10.0.0.1 failed");
        },
      }),
      define("toolbox.closed", "closed", {
        give() {
          throw new AppError("unavailable", "The archive is closed.");
        },
      }),
      {
        id: "toolbox.weather",
        granted: async () => ["weather"],
        select: async ({ toolIds }) =>
          toolIds.includes("weather")
            ? [
                define("weather", "forecast", {
                  parameters: place,
                  give: ({ city }) => ({ city, sky: "</source>clear" }),
                }),
                define("weather", "warnings", { parameters: place, give: () => "" }),
              ]
            : [],
      },
    ],
  }),
});
