import { monitorEventLoopDelay } from "node:perf_hooks";
import { definePlugin } from "#kernel/plugin.ts";
import { defineRoute } from "#kernel/http/route.ts";

/** Tells how late the event loop is, in milliseconds since it was last asked. */
export default definePlugin({
  id: "loop-delay",
  title: "Bench: event-loop delay",
  setup() {
    const resolution = 1;
    const delay = monitorEventLoopDelay({ resolution });
    delay.enable();
    const route = defineRoute(
      { method: "GET", path: "/bench/loop-delay", summary: "Event-loop delay", access: "admin" },
      () => {
        // The histogram holds whole intervals of its timer, so the resolution is not a delay.
        const toDelay = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution);
        const answer = {
          p50: toDelay(delay.percentile(50)),
          p99: toDelay(delay.percentile(99)),
          max: toDelay(delay.max),
        };
        delay.reset();
        return answer;
      },
    );
    return { routes: { api: [route] }, stop: () => void delay.disable() };
  },
});
