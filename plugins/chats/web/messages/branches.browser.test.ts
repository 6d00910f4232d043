import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("branches of a chat", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream());
    ({ token } = await world.app.admin());
  });

  const shot = async (page: Page, name: string) => {
    const folder = process.env["SHOTS"];
    if (folder) {
      await page.screenshot({ path: `${folder}/${name}.png` });
    }
  };

  async function post(path: string, body: object): Promise<{ id: string }> {
    const response = await fetch(`${world.app.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    expect(response.status, path).toBe(200);
    return (await response.json()) as { id: string };
  }

  /** A message below another one; ids of own ones begin with q. */
  const message = (path: string, content: string, more: object = {}) => {
    const [parentId = "", id = "", ...childrenIds] = path.split(" ");
    const isOwn = id.startsWith("q");
    return {
      id,
      parentId: parentId === "-" ? null : parentId,
      childrenIds,
      content,
      ...(isOwn ? { role: "user", models: ["alpha"] } : { role: "assistant", model: "alpha", done: true }),
      ...more,
    };
  };

  const steps =
    "1. Open it:\n\n   ```js\n   open();\n   ```\n\n2. Turn it.\n\n| Mill | Depth |\n|---|---|\n| North | 2 m |\n";
  const frame = `<p>Levels</p><button onclick="document.body.append(Object.assign(document.createElement('div'), { style: 'height:200px' }))">More</button>`;

  async function store(): Promise<string> {
    const messages = [
      message("- q1 a1 a2", "How deep is it?"),
      message("q1 a1 q2", "**Two** metres."),
      message("a1 q2 a3", "And today?"),
      message("q2 a3", "Three metres."),
      message("q1 a2 q3", "It is deep."),
      message("a2 q3 a4", "What now?"),
      message("q3 a4", steps, {
        embeds: [frame, "https://maps.test/mill"],
        usage: { prompt_tokens: 12, completion_tokens: 34 },
      }),
    ];
    const history = { messages: Object.fromEntries(messages.map((one) => [one.id, one])), currentId: "a4" };
    return (await post("/api/v1/chats/new", { chat: { title: "Wheels", models: ["alpha"], history } })).id;
  }

  test("shows the branches of a chat and goes over to another one", async () => {
    const id = await store();
    const { page } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    await page.getByRole("button", { name: "2/2, Show all branches" }).click();
    const tree = page.getByRole("tree", { name: "Branches" });
    const shown = () => tree.getByRole("treeitem", { selected: true }).count();
    await expect.poll(shown).toBe(4);
    await shot(page, "branches");
    await expectNoAxeFindings(page);
    await tree.getByRole("treeitem", { name: /And today/ }).click();
    await page.getByRole("article").getByText("Three metres.").waitFor();
    await page.getByRole("article").getByText("What now?").waitFor({ state: "detached" });
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("article").getByText("Open it:").waitFor();
    await expect.poll(shown).toBe(4);
    // A message of the shown branch is brought into sight, without another branch.
    await tree.getByRole("treeitem", { name: /How deep/ }).click();
    expect(await page.getByRole("article").getByText("Open it:").count()).toBe(1);
  });

  test("shows code in lists, frames, tasks and usage, on a phone as well", async () => {
    const id = await store();
    const { page } = await openPage({
      url: world.app.url,
      token,
      path: `/c/${id}`,
      size: "phone",
      theme: "dark",
    });
    const reply = page.getByRole("article", { name: /Reply of alpha/ }).last();
    await reply.getByRole("listitem").getByRole("button", { name: "Copy code" }).waitFor();
    await reply.getByRole("listitem").locator(".code-function, [class^=code-]").first().waitFor();
    const head = await reply.getByRole("columnheader", { name: "Depth" }).boundingBox();
    const copy = await reply.getByRole("button", { name: "Copy table" }).boundingBox();
    expect(copy?.y ?? 0, "the table's buttons leave its head free").toBeGreaterThan(
      (head?.y ?? 0) + (head?.height ?? 0),
    );
    const shownFrame = reply.locator("iframe");
    const heightOf = async () => (await shownFrame.boundingBox())?.height ?? 0;
    await shownFrame.contentFrame().getByText("Levels").waitFor();
    await expect.poll(heightOf).toBeLessThan(150);
    await shownFrame.contentFrame().getByRole("button", { name: "More" }).click();
    await expect.poll(heightOf).toBeGreaterThan(250);
    await reply.getByRole("link", { name: /Open the page on maps.test/ }).waitFor();
    await post(`/api/v1/chats/${id}/messages/a4/event`, {
      type: "chat:message:tasks",
      data: {
        tasks: [
          { id: "1", content: "Read the gauge", status: "completed" },
          { id: "2", content: "Open the gate", status: "in_progress" },
        ],
      },
    });
    await reply.getByText("1 of 2 done").waitFor();
    await reply.getByRole("button", { name: /12 tokens read/ }).click();
    await page.getByText("34 tokens written", { exact: true }).waitFor();
    await shot(page, "embeds-phone");
    await page.keyboard.press("Escape");
    await expectNoAxeFindings(page);
    await world.app.running.database.query("update chat set tasks = $2 where id = $1", [
      id,
      JSON.stringify([{ id: "1", content: "Read the gauge again", status: "pending" }]),
    ]);
    await page.reload();
    await reply.getByText("Read the gauge again").waitFor();
  });
});
