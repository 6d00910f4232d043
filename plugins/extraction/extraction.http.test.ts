import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  app = await useApp();
  owner = await app.user();
  other = await app.user();
});

afterAll(() => app.close());

const sample = (name: string) => readFile(new URL(`fixtures/${name}`, import.meta.url));

/** Uploads as a browser does and waits until processing has ended. */
async function upload(
  name: string,
  bytes: Uint8Array | string,
  { type = "", token = owner.token, query = "?process_in_background=false" } = {},
) {
  const body = new FormData();
  body.append("file", new File([bytes as BlobPart], name, { type }));
  const answer = await app.call(`POST /api/v1/files/${query}`, { token, body });
  expect(answer.status).toBe(200);
  return answer.body;
}

describe("an uploaded document", () => {
  it("gets its text and the places of its pages", async () => {
    const file = await upload("letter.pdf", await sample("letter.pdf"), { type: "application/pdf" });
    expect(file.data).toMatchObject({
      status: "completed",
      error: null,
      content: expect.stringContaining("the crane arrives on 3 May."),
      places: [
        { start: 0, page: 1 },
        { start: 50, page: 2 },
        { start: 76, page: 4 },
      ],
    });
  });

  it.each([
    ["report.docx", "The spring tide of 14 March"],
    ["people.xlsx", "Name: Ada Lovelace; Born: 1985-12-10"],
    ["plan.pptx", "Invite the harbour master"],
    ["garden.odt", "Plant the quince"],
    ["tales.epub", "Nobody spoke for three days."],
  ])("%s gets its text", async (name, words) => {
    const file = await upload(name, await sample(name));
    expect(file.data).toMatchObject({ status: "completed", content: expect.stringContaining(words) });
  });

  it.each([
    ["protected.pdf", "The PDF is protected by a password."],
    ["scanned.pdf", "No text found in this PDF: its pages are pictures, which need an OCR engine."],
  ])("%s fails with the reason, which the status tells", async (name, error) => {
    const file = await upload(name, await sample(name));
    expect(file.data).toMatchObject({ status: "failed", error });
    const status = await owner.call(`GET /api/v1/files/${file.id}/process/status`);
    expect(status.body).toEqual({ status: "failed", error });
  });

  it("that is empty fails", async () => {
    expect((await upload("empty.txt", "")).data).toMatchObject({
      status: "failed",
      error: "The file is empty.",
    });
  });

  it("is stored without text where that is wished", async () => {
    const file = await upload("letter.pdf", await sample("letter.pdf"), { query: "?process=false" });
    expect(file.data).toEqual({ status: "completed", error: null });
  });
});

describe("what is no document", () => {
  it("a picture is stored without text", async () => {
    const png = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
    expect((await upload("a.png", png, { type: "image/png" })).data).toMatchObject({
      status: "completed",
      error: null,
    });
    expect((await upload("a.png", png, { type: "image/png" })).data).not.toHaveProperty("content");
  });

  it.each([
    ["talk.mp3", "audio/mpeg"],
    ["clip.mp4", "video/mp4"],
  ])("%s says that there is no engine for speech", async (name, type) => {
    expect((await upload(name, "sound", { type })).data).toMatchObject({
      status: "failed",
      error: "No engine is set up that turns speech into text, so this recording has none.",
    });
  });
});

describe("the same bytes again", () => {
  const html = "<h1>Lighthouse</h1><p>Built in 1843.</p>";

  it("give the same text, whoever sends them", async () => {
    const first = await upload("light.html", html);
    const again = await upload("copy.html", html, { token: other.token });
    expect(again.data.content).toBe("# Lighthouse\n\nBuilt in 1843.");
    expect(again.data).toEqual(first.data);
  });

  it("under a name that is read another way are read anew", async () => {
    expect((await upload("light.txt", html)).data.content).toBe(html);
  });

  it("never give a text that somebody set by hand", async () => {
    const secret = "<p>the same page for both</p>";
    const first = await upload("mine.html", secret);
    const path = `/api/v1/files/${first.id}`;
    await owner.call(`POST ${path}/data/content/update`, { content: "my private notes" });
    await expect
      .poll(async () => (await owner.call(`GET ${path}`)).body.data)
      .toMatchObject({ status: "completed", content: "my private notes" });
    const theirs = await upload("theirs.html", secret, { token: other.token });
    expect(theirs.data.content).toBe("the same page for both");
  });
});
