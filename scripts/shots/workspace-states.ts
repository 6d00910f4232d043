import type { State } from "./state.ts";

/** States of the pages on which models are made. */
export const workspaceStates: readonly State[] = [
  {
    name: "models-list",
    looks: ["desk-light", "phone-dark"],
    show: (page) => page.goto("/workspace/models"),
  },
  {
    name: "model-editor",
    looks: ["desk-light", "desk-dark", "phone-light"],
    show: async (page) => {
      await page.goto("/workspace/models/new");
      await page.getByRole("textbox", { name: "Name" }).fill("Miller’s clerk");
      await page
        .getByRole("textbox", { name: "Description" })
        .fill("Answers letters of the water board, politely and briefly.");
      await page.getByRole("textbox", { name: "Tags" }).fill("letters, board");
    },
  },
  {
    name: "model-controls",
    looks: ["desk-light"],
    show: async (page) => {
      await page.goto("/workspace/models/new");
      await page.getByRole("button", { name: "Add a control" }).click();
      await page.getByRole("button", { name: "Add an option" }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "evaluations",
    looks: ["desk-light", "phone-dark"],
    show: (page) => page.goto("/admin/evaluations"),
  },
];
