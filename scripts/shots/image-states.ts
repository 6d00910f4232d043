import type { State } from "./state.ts";

/** Pages of pictures. */
export const imageStates: readonly State[] = [
  {
    name: "images",
    looks: ["desk-light", "desk-dark", "phone-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/images");
      await page.getByRole("heading", { level: 1 }).waitFor();
    },
  },
  {
    name: "admin-images",
    looks: ["desk-light", "desk-dark", "phone-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/admin/images");
      await page.getByRole("combobox", { name: "Engine" }).first().waitFor();
    },
  },
];
