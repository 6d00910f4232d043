import type { State } from "./state.ts";
import type { World } from "./world.ts";

const letter = `Write a letter to {{recipient | text:required}} about {{matter | textarea:placeholder="What happened"}}.

Tone: {{tone | select:options=["formal","friendly"]:default="friendly"}}. Today is {{CURRENT_DATE}}.`;

async function post({ url, token }: World, path: string, body: object): Promise<{ id: string }> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { id: string };
}

let promptId: string | undefined;

/** Stores two prompts, one with a draft; what is there already stays. */
async function storePrompts(world: World): Promise<string> {
  if (promptId === undefined) {
    const made = await post(world, "/prompts/create", {
      command: "letter",
      name: "Write a letter",
      content: letter,
      tags: ["writing"],
      commit_message: "First version",
    });
    const draft = {
      content: `${letter}\n\nAt most 200 words.`,
      commit_message: "Shorter",
      is_production: false,
    };
    await post(world, `/prompts/id/${made.id}/update`, draft);
    const summary = {
      command: "summary",
      name: "Sum up",
      content: "Sum up in three sentences: {{CLIPBOARD}}",
    };
    await post(world, "/prompts/create", summary);
    promptId = made.id;
  }
  return promptId;
}

async function storeSkill(world: World): Promise<void> {
  await post(world, "/skills/create", {
    id: "tide-tables",
    name: "Tide tables",
    description: "Reads tide tables. Use it when somebody asks for high or low water.",
    content:
      "# Reading the table\n\n1. Find the harbour in `data/harbours.csv`.\n2. Add the correction to the time.",
    files: [{ path: "data/harbours.csv", content: btoa("harbour,minutes\nEmden,+12\n") }],
  });
}

/** Pages for those who write prompts and skills; the first stand before any is stored. */
export const promptStates: readonly State[] = [
  {
    name: "prompts-empty",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/workspace/prompts");
      await page.getByText(/type \/ in a message/).waitFor();
      await page.locator("[aria-busy]").waitFor({ state: "detached" });
    },
  },
  {
    name: "skills-empty",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/workspace/skills");
      await page.getByText(/Type \$ in a message/).waitFor();
      await page.locator("[aria-busy]").waitFor({ state: "detached" });
    },
  },
  {
    name: "prompts-list",
    show: async (page, world) => {
      await storePrompts(world);
      await page.goto("/workspace/prompts");
      await page.getByRole("link", { name: "Write a letter" }).waitFor();
    },
  },
  {
    name: "prompts-editor",
    show: async (page, world) => {
      await page.goto(`/workspace/prompt/${await storePrompts(world)}`);
      await page
        .getByText("What goes into the message")
        .or(page.getByRole("textbox", { name: "Text" }))
        .first()
        .waitFor();
    },
  },
  {
    name: "prompts-versions",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await page.goto(`/workspace/prompt/${await storePrompts(world)}`);
      await page.getByRole("tab", { name: "Versions" }).click();
      await page.getByRole("button", { name: /First version/ }).click();
    },
  },
  {
    name: "prompts-fill",
    show: async (page, world) => {
      await storePrompts(world);
      await page.goto("/");
      await page
        .getByRole("textbox", { name: /message/i })
        .first()
        .pressSequentially("/let");
      await page.getByRole("option", { name: /letter/ }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "skills-list",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await storeSkill(world);
      await page.goto("/workspace/skills");
      await page.getByRole("link", { name: "Tide tables" }).waitFor();
    },
  },
  {
    name: "skills-editor",
    show: async (page, world) => {
      await storeSkill(world);
      await page.goto("/workspace/skill/tide-tables");
      await page.getByRole("heading", { name: "Tide tables" }).waitFor();
    },
  },
];
