import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    "knowledge.list": () => import("./CollectionsPage.svelte"),
    "knowledge.collection": () => import("./collection/CollectionPage.svelte"),
  },
  modelSections: [{ id: "knowledge", order: 10, load: () => import("./ModelKnowledge.svelte") }],
});
