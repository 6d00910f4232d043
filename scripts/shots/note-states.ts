import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const all = ["desk-light", "desk-dark", "phone-light", "phone-dark"] as const;
const plan = `# Repair of the weir

The council wants the plan until **Friday**. What stands so far:

* [x] measure the gauges
* [ ] ask the water board
* [ ] write the bill

## Measurements

1. upper gauge 2.31 m
2. lower gauge 1.08 m

> Close the sluice before frost.

\`\`\`
height = upper - lower
\`\`\``;

let opened: Promise<string> | undefined;

async function makeNotes({ url, token }: World): Promise<string> {
  const call = async (path: string, body: object = {}) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/api/v1/notes${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { id: string };
  };
  const make = (title: string, md: string) => call("/create", { title, data: { content: { md } } });
  await make("Shopping for the mill", "* grease\n* two new belts\n* a lamp for the stairs");
  await make("Questions for the council", "Who pays for the fish ladder?\n\nWhen do they decide?");
  const { id } = await make("Weir", "# Repair of the weir\n\nWe begin on Monday.");
  await call(`/${id}/update`, { data: { content: { md: plan } } });
  await call(`/${id}/pin`);
  return id;
}

async function openNote(page: Page, world: World): Promise<void> {
  const id = await (opened ??= makeNotes(world));
  await page.goto(`/notes/${id}`);
  await page.getByText("upper gauge").first().waitFor();
}

/** Texts that people write. */
export const noteStates: readonly State[] = [
  {
    name: "notes",
    looks: all,
    show: async (page, world) => {
      await (opened ??= makeNotes(world));
      await page.goto("/notes");
      await page.getByText("Shopping for the mill").waitFor();
    },
  },
  { name: "note", looks: all, show: openNote },
  {
    name: "note-markdown",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openNote(page, world);
      await page.getByRole("radio", { name: "Markdown" }).check({ force: true });
    },
  },
  {
    name: "note-history",
    looks: ["desk-light", "phone-light"],
    show: async (page, world) => {
      await openNote(page, world);
      await page.getByRole("button", { name: "History" }).click();
      await page
        .getByRole("button", { name: /character/ })
        .last()
        .click();
      await page.getByRole("region", { name: "Difference" }).waitFor();
    },
  },
  {
    name: "note-share",
    looks: ["desk-dark"],
    show: async (page, world) => {
      await openNote(page, world);
      await page.getByRole("button", { name: "Share", exact: true }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
];
