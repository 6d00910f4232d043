import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { plainHost } from "#test/support/browser.ts";
import { pick } from "#test/support/hands.ts";
import { startTcpProxy } from "#test/support/tcp-proxy.ts";
import { type NoteClient, noteClient } from "../notes.fixture.ts";

describeInterface("a note whose page goes with the last key", ({ setUp, openPage }) => {
  let app: App;
  let ann: NoteClient;

  setUp(async (keep) => {
    app = await keep(startApp());
    ann = noteClient(await app.user());
  });

  async function open() {
    const note = await ann.make("Mill", "We begin");
    const { page } = await openPage({ url: app.url, path: `/notes/${note.id}`, token: ann.user.token });
    await page.getByText("We begin").waitFor();
    return { page, id: note.id };
  }

  test("keeps its text", async () => {
    const { page, id } = await open();
    await page.getByRole("textbox", { name: "Text of the note", exact: true }).click();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.insertText(" on Monday.");
    await page.reload();
    await page.getByText("We begin on Monday.").waitFor();
    expect(await ann.read(id)).toBe("We begin on Monday.");
  });

  test("keeps its text as Markdown", async () => {
    const { page, id } = await open();
    await pick(page.getByRole("radio", { name: "Markdown" }));
    await page.getByLabel("Text of the note, as Markdown").click();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.insertText(" *on Monday*.");
    await page.reload();
    await page.locator("em", { hasText: "on Monday" }).waitFor();
    expect(await ann.read(id)).toBe("We begin *on Monday*.");
  });

  test("keeps its title", async () => {
    const { page } = await open();
    await page.getByLabel("Title").click();
    await page.keyboard.insertText(" of the valley");
    await page.reload();
    await page.getByText("We begin").waitFor();
    await expect.poll(() => page.getByLabel("Title").inputValue()).toContain("of the valley");
  });

  test("keeps what is written without a connection, in the window and in the browser", async () => {
    const wire = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(app.url).port) });
    onTestFinished(() => wire.close());
    const url = `http://${plainHost}:${wire.port}`;
    const note = await ann.make("Mill", "We begin");
    const { page } = await openPage({ url, path: `/notes/${note.id}`, token: ann.user.token });
    const text = page.getByRole("textbox", { name: "Text of the note", exact: true });
    await page.getByText("We begin").waitFor();
    wire.cut();
    await page.getByText("No connection. What you write is kept in this browser.").waitFor();
    await text.click();
    await page.keyboard.press("ControlOrMeta+Home");
    await page.keyboard.type("Still here. ");
    wire.restore();
    await page.getByText("Saved", { exact: true }).waitFor({ timeout: 45_000 });
    await expect.poll(() => ann.read(note.id)).toBe("Still here. We begin");
    expect(await page.getByText("This edit was not saved.").count()).toBe(0);

    // The page goes before the server comes back.
    wire.cut();
    await page.getByText("No connection. What you write is kept in this browser.").waitFor();
    await text.click();
    await page.keyboard.press("ControlOrMeta+Home");
    await page.keyboard.type("Alone. ");
    await page.getByLabel("Title").click();
    await page.keyboard.press("End");
    await page.keyboard.type(" of the valley");
    await page.getByRole("button", { name: "Search and commands" }).click();
    await page.getByText(/^A part of this page could not be loaded/).waitFor();
    await page.getByRole("button", { name: "All notes" }).click();
    // A title has no copy in the browser.
    await page.getByRole("dialog", { name: "Discard what you typed?" }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    wire.restore();
    await page.goto(`${url}/notes/${note.id}`);
    await page.getByText("Alone. Still here. We begin").waitFor();
    await expect.poll(() => ann.read(note.id), { timeout: 20_000 }).toBe("Alone. Still here. We begin");
  });

  test("stores a title that was typed without a connection once there is one", async () => {
    const wire = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(app.url).port) });
    onTestFinished(() => wire.close());
    const url = `http://${plainHost}:${wire.port}`;
    const note = await ann.make("Mill", "We begin");
    const { page } = await openPage({ url, path: `/notes/${note.id}`, token: ann.user.token });
    await page.getByText("We begin").waitFor();
    wire.cut();
    await page.getByText("No connection. What you write is kept in this browser.").waitFor();
    await page.getByLabel("Title").click();
    await page.keyboard.press("End");
    await page.keyboard.type(" of the valley");
    await page.keyboard.press("Tab");
    wire.restore();
    await page.getByText("Saved", { exact: true }).waitFor({ timeout: 45_000 });
    const stored = async () => (await ann.call(`GET /${note.id}`)).body.title;
    await expect.poll(stored, { timeout: 20_000 }).toBe("Mill of the valley");
    expect(await page.getByLabel("Title").inputValue()).toBe("Mill of the valley");
  });
});
