import { int } from "#config/variable.ts";
import { gauges } from "#kernel/gauges.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { sandbox } from "#kernel/sandbox.ts";
import { fill, provide } from "#kernel/service.ts";
import { createSandbox } from "./create-sandbox.ts";

export default definePlugin({
  id: "sandbox",
  title: "Sandbox",
  summary: "Runs the code that people write, apart from everything else.",
  config: {
    memoryBudget: int("SANDBOX_MEMORY_BUDGET", 256, {
      min: 1,
      text: "Megabytes that isolates of user functions and tools may hold together while they are idle",
    }),
  },
  provides: [sandbox],

  setup({ config, log }) {
    const service = createSandbox({ log, budgetMegabytes: () => config.memoryBudget });
    return {
      services: [provide(sandbox, service)],
      fills: [
        fill(gauges, {
          name: "isolates",
          help: "Isolates that hold code of people.",
          read: () => service.isolates(),
        }),
      ],
      stop: () => service.close(),
    };
  },
});
