import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";

/** What the outlet filter has seen. */
export const outlets: { messages: unknown[]; metadata: unknown }[] = [];

/** Filters that run only when the request names them in its metadata, so that other cases stay unfiltered. */
export const probes = definePlugin({
  id: "probes",
  title: "Probes",
  setup: () => ({
    filters: [
      {
        id: "probes",
        select: ({ filterIds }) =>
          [
            defineFilter({
              id: "mark",
              name: "Mark",
              priority: 0,
              inlet: (request) => ({ ...request, metadata: { ...request.metadata, note: "from inlet" } }),
              stream(piece) {
                const delta = piece.choices?.[0]?.delta;
                return delta?.content === "drop"
                  ? null
                  : delta?.content
                    ? { ...piece, choices: [{ index: 0, delta: { content: `<${delta.content}>` } }] }
                    : piece;
              },
            }),
            defineFilter({
              id: "keep",
              name: "Keep",
              priority: 1,
              outlet(conversation, context) {
                outlets.push({ messages: conversation.messages, metadata: context.metadata });
                return {
                  ...conversation,
                  messages: conversation.messages.map((message) => ({ ...message, content: "filtered" })),
                };
              },
            }),
            defineFilter({
              id: "refuse",
              name: "Refuse",
              priority: 2,
              inlet() {
                throw new Error("This question is not allowed.");
              },
            }),
          ].filter(({ id }) => filterIds.includes(id)),
      },
    ],
  }),
});
