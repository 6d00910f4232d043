import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { toneWav } from "#plugins/audio/audio.fixture.ts";
import type { State } from "./state.ts";

const all = ["desk-light", "desk-dark", "phone-light", "phone-dark"] as const;
const fixture = (name: string) =>
  fileURLToPath(new URL(`../../plugins/extraction/fixtures/${name}`, import.meta.url));
const handbook = `# The mill

## Sluice

The sluice is opened twelve centimetres when the stones run dry, and closed before frost.

## Stones

They are dressed every six weeks. The bed stone stays, and the runner is lifted with the crane.

## Accounts

Dues are paid at the end of each quarter; the water board writes the bill.
`;

/** The collection of all its states; made by the first that asks for it. */
let made: Promise<string> | undefined;

async function makeCollection(page: Page): Promise<string> {
  await page.goto("/workspace/knowledge");
  await page.getByRole("button", { name: "New collection" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Handbook of the mill");
  await page.getByLabel("What it is about").fill("Rules, repairs and letters of the water board.");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByText("Drop files or whole folders here.").waitFor();
  const files = [
    fixture("letter.pdf"),
    fixture("people.xlsx"),
    fixture("scanned.pdf"),
    fixture("report.docx"),
  ];
  await page.getByLabel("Files to add").setInputFiles(files);
  await page.getByText("4 files · 1 failed").waitFor({ timeout: 90_000 });
  const note = { name: "handbook.md", mimeType: "text/markdown", buffer: Buffer.from(handbook) };
  await page.getByLabel("Files to add").setInputFiles([note]);
  await page.getByText("5 files · 1 failed").waitFor({ timeout: 90_000 });
  await page.getByRole("button", { name: "New directory" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Letters");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("button", { name: /^Letters/ }).waitFor();
  return new URL(page.url()).pathname;
}

async function openCollection(page: Page): Promise<void> {
  made ??= makeCollection(page);
  await page.goto(await made);
  await page.getByRole("link", { name: "handbook.md" }).waitFor();
}

async function openFile(page: Page, name: string): Promise<void> {
  await openCollection(page);
  await page.getByRole("link", { name }).click();
  await page.getByRole("heading", { name }).waitFor();
}

/** States of collections, files and the search in them. */
export const knowledgeStates: readonly State[] = [
  { name: "knowledge-empty", show: (page) => page.goto("/workspace/knowledge") },
  { name: "knowledge-collection", looks: all, show: openCollection },
  {
    name: "knowledge-list",
    show: async (page) => {
      await openCollection(page);
      await page.goto("/workspace/knowledge");
    },
  },
  {
    name: "knowledge-share",
    show: async (page) => {
      await openCollection(page);
      await page.getByRole("button", { name: "Share" }).click();
    },
  },
  {
    name: "knowledge-rename",
    show: async (page) => {
      await openCollection(page);
      await page.getByRole("button", { name: "Actions for handbook.md" }).click();
      await page.getByRole("menuitem", { name: "Rename" }).click();
    },
  },
  { name: "file-pdf", looks: all, show: (page) => openFile(page, "letter.pdf") },
  { name: "file-failed", show: (page) => openFile(page, "scanned.pdf") },
  {
    name: "file-passages",
    looks: all,
    show: async (page) => {
      await openFile(page, "handbook.md");
      await page.getByRole("tab", { name: "Passages" }).click();
      await page.getByRole("list", { name: "Passages" }).waitFor();
    },
  },
  {
    name: "retrieval-lab",
    looks: all,
    show: async (page) => {
      await openCollection(page);
      await page.goto("/workspace/retrieval-lab");
      await page.getByRole("textbox", { name: "Question" }).fill("how far is the sluice opened?");
      await page.getByRole("button", { name: "Choose collections and files" }).click();
      await page.getByRole("searchbox", { name: "Find a collection or file" }).fill("Handbook");
      await page.getByRole("checkbox", { name: "Handbook of the mill" }).check();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Search", exact: true }).click();
      await page.getByRole("list", { name: "Passages" }).waitFor();
    },
  },
  { name: "web-search", looks: all, show: (page) => page.goto("/admin/web-search") },
  {
    name: "knowledge-of-model",
    show: async (page) => {
      await openCollection(page);
      await page.goto("/workspace/models/new");
      const add = page.getByLabel("Add a collection");
      await add.waitFor();
      await add.scrollIntoViewIfNeeded();
    },
  },
  {
    name: "composer-chips",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await openCollection(page);
      await page.goto("/");
      const composer = page.getByRole("textbox", { name: /message/i });
      await composer.pressSequentially("#Handbook");
      await page.getByRole("option", { name: /Handbook of the mill/ }).click();
      await composer.pressSequentially("#handbook.md");
      await page.getByRole("option", { name: /handbook\.md/ }).click();
      await composer.fill("How far is the sluice opened?");
    },
  },
  // It stays in the collection, so it comes last.
  {
    name: "knowledge-recording",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openCollection(page);
      world.holdTranscription();
      const recording = { name: "council of May.wav", mimeType: "audio/wav", buffer: toneWav(4) };
      await page.getByLabel("Files to add").setInputFiles([recording]);
      await page.getByText("Being transcribed").first().waitFor();
    },
  },
];
