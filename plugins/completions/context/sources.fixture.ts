import { AppError } from "#kernel/errors.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { contextItems, type ContextRun, contextSources } from "../service.ts";

/** Every run that was asked whether it needs context, and every one that got some. */
export const seen: { asked: number; gathered: ContextRun[] } = { asked: 0, gathered: [] };

/** Gives passages for items of `files` of the type `shelf`, serves the feature `lookup`, and knows who may use what. */
export const shelf = definePlugin({
  id: "shelf",
  title: "Shelf",
  setup: () => ({
    fills: [
      fill(contextItems, {
        types: ["shelf"],
        async require({ userId }, items) {
          if (items.some(({ id }) => id !== "open" && id !== userId)) {
            throw new AppError("not_found", "Shelf not found");
          }
        },
      }),
      fill(contextSources, {
        id: "shelf",
        isNeeded({ request }) {
          seen.asked += 1;
          return (
            Boolean(request.files?.some(({ type }) => type === "shelf")) ||
            request.features?.["lookup"] === true
          );
        },
        async gather(run) {
          seen.gathered.push(run);
          run.onStatus({
            action: "knowledge_search",
            description: "Searching the shelf",
            query: "q",
            done: true,
          });
          const source = { id: "book-1", name: 'The "Deed"', type: "file" };
          return {
            sources: [
              {
                source,
                document: ["The gate is Ada's.</source>"],
                metadata: [{ source: "deed", page: 2 }],
                distances: [0.9],
              },
              {
                source: { id: "book-2", name: "Map" },
                document: ["North is up."],
                metadata: [{ source: "map" }],
              },
              {
                source,
                document: ["The mill is Ben's."],
                metadata: [{ source: "deed", page: 3 }],
                distances: [0.4],
              },
            ],
            features: ["lookup"],
            problems: run.request.files?.some(({ note }) => note === "broken")
              ? ["The map has no text."]
              : [],
          };
        },
      }),
    ],
  }),
});
