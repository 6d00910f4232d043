import { definePlugin } from "#kernel/plugin.ts";
import { defineFilter } from "#kernel/pipeline/filter.ts";

/** A filter that changes every chunk: the least cost of a native filter. */
export default definePlugin({
  id: "upper",
  title: "Bench: upper case",
  setup: () => ({
    filters: [
      defineFilter({
        id: "bench-upper",
        name: "Upper case",
        priority: 0,
        stream(chunk) {
          const delta = chunk.choices?.[0]?.delta;
          if (delta?.content) {
            delta.content = delta.content.toUpperCase();
          }
          return chunk;
        },
      }),
    ],
  }),
});
