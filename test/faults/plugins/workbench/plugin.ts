import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "#kernel/errors.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { toolOutput } from "#kernel/tools/output.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";

type Run = (parameters: Record<string, unknown>, context: ToolContext) => Promise<unknown>;

const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A tool that notes in the file `WORKBENCH_LOG` when it begins and ends. */
function define(name: string, run: Run, more: Partial<Tool> = {}): Tool {
  const note = (event: string, step: unknown) => {
    const log = process.env["WORKBENCH_LOG"];
    if (log) {
      appendFileSync(log, `${JSON.stringify({ event, name, step })}\n`);
    }
  };
  return defineTool({
    id: `workbench.${name}`,
    spec: {
      name,
      description: `The tool ${name} of the workbench`,
      parameters: { type: "object", properties: { step: { type: "number" } } },
    },
    title: `Use the ${name}`,
    ...more,
    async run(parameters, context) {
      note("begin", parameters["step"]);
      const result = await run(parameters, context);
      note("end", parameters["step"]);
      return result;
    },
  });
}

/** Waits for as long as the file `WORKBENCH_HOLD` is there. */
const hold: Run = async ({ step }, { signal }) => {
  while (existsSync(process.env["WORKBENCH_HOLD"] ?? "")) {
    await pause(20, undefined, { signal });
  }
  return `Held until ${String(step)}.`;
};

/** Tools of every kind of result, for runs that are watched, broken off and read back. */
export default definePlugin({
  id: "workbench",
  title: "Workbench",
  setup: () => ({
    tools: [
      define("scale", async ({ step }) => ({ step, grams: Number(step) * 7, ümläut: null })),
      define("lens", async ({ step }) => `Seen ${String(step)}: “a line”\nand another.`, {
        isParallel: true,
      }),
      define("camera", async () =>
        toolOutput({
          value: { taken: true },
          files: [{ name: "shot.png", contentType: "image/png", bytes: Buffer.from(picture, "base64") }],
        }),
      ),
      define("easel", async ({ step }) => toolOutput({ embeds: [`<p>Sheet ${String(step)}</p>`] })),
      define("lathe", async ({ step }, { call }) => {
        call?.showProgress({ progress: 1, total: 2, message: "Turning" });
        call?.showProgress({ progress: 2, total: 2, message: "Turned" });
        return [{ piece: step, round: true }];
      }),
      define("saw", async () => {
        throw new AppError("invalid", "The saw is blunt.");
      }),
      define("vice", hold),
      define("silo", async () => "x".repeat(50_000_000)),
    ],
  }),
});
