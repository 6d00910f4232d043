import { definePlugin } from "#kernel/plugin.ts";
import { defineFilter } from "#kernel/pipeline/filter.ts";

/** A filter that looks into every chunk and changes it: what a native filter costs at least. */
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
