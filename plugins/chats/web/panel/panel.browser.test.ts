import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
describeInterface("the panel of documents", ({ setUp, openPage }) => {
  let host: Server;
  let origin: string;
  let asked = 0;
  let app: App;
  let token: string;

  setUp(async (keep) => {
    host = createServer(({ url }, response) => {
      asked += 1;
      response.writeHead(url === "/boat.png" ? 200 : 404).end(url === "/boat.png" ? png : "");
    });
    await keep({ close: () => (host.closeAllConnections(), host.close()) });
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    app = await keep(startApp({ env: { EGRESS_ALLOWED_PRIVATE_ORIGINS: origin } }));
    ({ token } = await app.admin());
  });

  async function upload(name: string, type: string, content: BlobPart): Promise<string> {
    const form = new FormData();
    form.append("file", new Blob([content], { type }), name);
    const { status, body } = await app.call("POST /api/v1/files/", { token, body: form });
    expect(status).toBe(200);
    return body.id;
  }

  const page1 = "<h1>First draft</h1>";
  const page2 = "<h1>Second draft</h1>\n<p>Longer.</p>";
  const fence = (text: string) => `Here it is.\n\n\`\`\`html\n${text}\n\`\`\``;

  /** A question whose reply was written twice, with a file and pictures of this platform and of another host. */
  async function makeChat(fileId: string, pictureId: string): Promise<string> {
    const [question, first, second] = [randomUUID(), randomUUID(), randomUUID()];
    const reply = { role: "assistant", parentId: question, childrenIds: [], done: true, model: "guide" };
    const messages = {
      [question]: {
        id: question,
        role: "user",
        content: "Write a page",
        parentId: null,
        childrenIds: [first, second],
        timestamp: 1,
        files: [{ type: "file", id: fileId, name: "notes.txt" }],
      },
      [first]: { ...reply, id: first, content: fence(page1), timestamp: 2 },
      [second]: {
        ...reply,
        id: second,
        timestamp: 3,
        content: `${fence(page2)}\n\n![Chart](/api/v1/files/${pictureId}/content)\n\n![Boat](${origin}/boat.png)\n\n![Gone](${origin}/gone.png)`,
      },
    };
    const chat = { title: "Pages", models: ["guide"], history: { currentId: second, messages } };
    const made = await app.call("POST /api/v1/chats/new", { token, body: { chat } });
    expect(made.status).toBe(200);
    return `/c/${made.body.id}`;
  }

  test("the panel goes through the versions of a document and lists the files of a chat; pictures of other hosts come after a click", async () => {
    const path = await makeChat(
      await upload("notes.txt", "text/plain", "Tide tables."),
      await upload("chart.png", "image/png", new Uint8Array(png)),
    );
    const { page, close } = await openPage({ url: app.url, token, path });
    await page.getByRole("button", { name: "Preview" }).click();
    const panel = page.getByRole("complementary", { name: "Document" });
    const frame = panel.frameLocator("iframe");
    await frame.getByRole("heading", { name: "Second draft" }).waitFor();
    await panel.getByText("2 of 2").waitFor();
    expect(await panel.getByRole("button", { name: "Later version" }).isDisabled()).toBe(true);
    await panel.getByRole("button", { name: "Earlier version" }).click();
    await frame.getByRole("heading", { name: "First draft" }).waitFor();
    await panel.getByText("Source", { exact: true }).click();
    await panel.getByText(page1).waitFor();
    await panel.getByRole("button", { name: "Later version" }).press("Enter");
    await panel.getByText("Second draft").waitFor();
    const saved = page.waitForEvent("download");
    await panel.getByRole("button", { name: "Save as a file" }).click();
    expect(await readFile(await (await saved).path(), "utf8")).toBe(page2);
    await panel.getByText("Preview", { exact: true }).click();
    await frame.getByRole("heading", { name: "Second draft" }).waitFor();
    await expectNoAxeFindings(page);
    const narrow = (await panel.boundingBox())?.width ?? 0;
    await panel.getByRole("button", { name: "Full width" }).click();
    expect((await panel.boundingBox())?.width).toBeGreaterThan(narrow * 2);
    await panel.getByRole("button", { name: "Beside the chat" }).click();
    await panel.getByRole("button", { name: "Close" }).click();

    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Files of this chat" }).click();
    const files = page.getByRole("complementary", { name: "Files of this chat" });
    const attached = files.getByRole("region", { name: "Attached" }).getByRole("listitem");
    await attached.getByText("notes.txt").waitFor();
    await attached.getByText(/^\d+ B$/).waitFor();
    const written = files.getByRole("region", { name: "From replies" }).getByRole("listitem");
    await written.getByText("chart.png").waitFor();
    expect(await written.count()).toBe(1);
    const file = page.waitForEvent("download");
    await attached.getByRole("link", { name: "Download notes.txt" }).click();
    expect(await readFile(await (await file).path(), "utf8")).toBe("Tide tables.");
    expect(await attached.getByRole("link", { name: "Open notes.txt" }).getAttribute("href")).toMatch(
      /^\/files\/[^/]+$/,
    );
    await expectNoAxeFindings(page);

    expect(asked).toBe(0);
    const name = `Picture from ${new URL(origin).host}`;
    await page.getByRole("link", { name: `${name}: Boat` }).press("Enter");
    await page.getByRole("img", { name: "Boat" }).waitFor();
    expect(await page.getByRole("img", { name: "Boat" }).getAttribute("src")).toMatch(/^blob:/);
    expect(asked).toBe(1);
    await page.getByRole("link", { name: `${name}: Gone` }).click();
    await page.getByRole("link", { name: /could not be shown: The host answered with status 404/ }).waitFor();
    await page.getByRole("img", { name: "Boat" }).click();
    await page.getByRole("dialog", { name: "Boat" }).waitFor();
    await close();

    const phone = await openPage({ url: app.url, token, path, size: "phone", theme: "dark" });
    await phone.page.getByRole("button", { name: "Chat menu" }).click();
    await phone.page.getByRole("menuitem", { name: "Files of this chat" }).click();
    await phone.page.getByRole("dialog", { name: "Files of this chat" }).getByText("chart.png").waitFor();
    await expectNoAxeFindings(phone.page, "[role=dialog]");
    await phone.page.getByRole("dialog").getByRole("button", { name: "Close" }).tap();
    await phone.page.getByRole("button", { name: "Preview" }).tap();
    const sheet = phone.page.getByRole("dialog", { name: "Document" });
    await sheet.getByText("2 of 2").waitFor();
    const copy = await sheet.getByRole("button", { name: "Copy" }).boundingBox();
    expect((copy?.x ?? 400) + (copy?.width ?? 0)).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page, "[role=dialog]");
  });
});
