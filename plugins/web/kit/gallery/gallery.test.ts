import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const here = import.meta.dirname;
/** The frame shows these once for the whole page, another component shows them, or they are pages themselves. */
const elsewhere = ["CodeListPage", "FieldNote", "MenuItems", "SearchSelect", "Toasts", "Tooltips"];

test("the page of the kit shows every component", () => {
  const shown = readdirSync(here)
    .filter((name) => name.endsWith(".svelte"))
    .map((name) => readFileSync(`${here}/${name}`, "utf8"))
    .join("\n");
  const components = ["access", "code", "components", "parameters", "picture"].flatMap((folder) =>
    readdirSync(`${here}/../${folder}`)
      .filter((name) => name.endsWith(".svelte"))
      .map((name) => name.replace(".svelte", "")),
  );
  expect(components.length).toBeGreaterThan(35);
  const isShown = (name: string) => elsewhere.includes(name) || new RegExp(`<${name}[\\s>]`).test(shown);
  expect(components.filter((name) => !isShown(name))).toEqual([]);
});
