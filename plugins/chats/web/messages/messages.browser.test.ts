import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { writtenReply } from "#test/support/upstream-written.ts";

describeInterface("messages", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha", "beta"] }));
    ({ token } = await world.app.admin());
  });

  /** A stored chat of so many questions and replies; `last` goes into the last reply. */
  async function store(turns: number, last: object = {}): Promise<string> {
    const messages: Record<string, object> = {};
    for (let index = 0; index < turns * 2; index += 1) {
      const isOwn = index % 2 === 0;
      messages[`m${index}`] = {
        id: `m${index}`,
        parentId: index === 0 ? null : `m${index - 1}`,
        childrenIds: index === turns * 2 - 1 ? [] : [`m${index + 1}`],
        role: isOwn ? "user" : "assistant",
        content: isOwn ? `Question ${index / 2}` : `Reply ${(index - 1) / 2}.\n${"It turns. ".repeat(40)}`,
        timestamp: 1_760_000_000 + index,
        ...(isOwn ? { models: ["alpha"] } : { model: "alpha", done: true }),
        ...(index === turns * 2 - 1 ? last : {}),
      };
    }
    return await post(messages, `m${turns * 2 - 1}`);
  }

  async function post(messages: Record<string, object>, currentId: string): Promise<string> {
    const chat = { title: "Wheels", models: ["alpha"], history: { messages, currentId } };
    const response = await fetch(`${world.app.url}/api/v1/chats/new`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ chat }),
    });
    return ((await response.json()) as { id: string }).id;
  }

  const shot = async (page: Page, name: string) => {
    const folder = process.env["SHOTS"];
    if (folder) {
      await page.screenshot({ path: `${folder}/${name}.png` });
    }
  };

  test("shows the end of a long chat with few nodes, and its begin on the way up", async () => {
    const id = await store(1000);
    const { page } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    await page.getByText("Reply 999.").waitFor();
    expect(await page.locator("*").count()).toBeLessThan(1500);
    const list = page.getByRole("region", { name: "Messages" });
    const fromEnd = () => list.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
    expect(await fromEnd()).toBeLessThan(4);
    await list.evaluate((node) => (node.scrollTop = 0));
    await page.getByText("Question 0", { exact: true }).waitFor();
    expect(await page.locator("*").count()).toBeLessThan(1500);
    await page.getByRole("button", { name: "Jump to latest" }).click();
    await page.getByText("Reply 999.").waitFor();
    await expect.poll(fromEnd).toBeLessThan(4);
    // From the middle, and after a reply that somebody else asked for.
    await list.evaluate((node) => (node.scrollTop = node.scrollHeight / 2));
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const reply = writtenReply();
    world.upstream.reply("/chat/completions", reply.script);
    const other = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    await write(other.page.getByRole("textbox", { name: "Message" }), "Asked elsewhere");
    await other.page.keyboard.press("Enter");
    reply.write("It turns. ".repeat(300));
    await other.page.getByText("It turns. It turns.").last().waitFor();
    await page.getByRole("button", { name: "New messages" }).click();
    await page.getByText("Asked elsewhere").first().waitFor();
    await expect.poll(fromEnd).toBeLessThan(4);
    // Who reads further up stays there while the reply grows.
    await list.hover();
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -400);
        return await page.getByRole("button", { name: "New messages" }).isVisible();
      })
      .toBe(true);
    const read = await list.evaluate((node) => node.scrollTop);
    reply.write("It turns on. ".repeat(300));
    await expect.poll(fromEnd).toBeGreaterThan(1000);
    expect(await list.evaluate((node) => node.scrollTop)).toBeLessThan(read + 2);
    await page.getByRole("button", { name: "New messages" }).click();
    reply.write("And on. ".repeat(300));
    reply.end();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    await expect.poll(fromEnd).toBeLessThan(4);
    await other.close();
  });

  test("shows reasoning, tools and failures of a reply, and what can be done with it", async () => {
    const output = [
      {
        type: "reasoning",
        id: "r_1",
        status: "completed",
        content: [{ type: "output_text", text: "Mills need water." }],
        duration: 12,
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "c1",
        status: "completed",
        name: "read_gauge",
        arguments: '{"mill":"north"}',
      },
      {
        type: "function_call_output",
        id: "fco_1",
        call_id: "c1",
        status: "completed",
        output: [{ type: "input_text", text: '{"metres":2}' }],
      },
      {
        type: "message",
        id: "msg_1",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Two metres." }],
      },
    ];
    const id = await store(2, { output, content: "Two metres.", error: { content: "Rate limit reached." } });
    for (const [size, theme] of [
      ["desk", "light"],
      ["phone", "dark"],
    ] as const) {
      const { page, close } = await openPage({
        url: world.app.url,
        token,
        path: `/c/${id}`,
        size,
        theme,
      });
      await page.getByRole("button", { name: /Thought for 12/ }).click();
      await page.getByText("Mills need water.").waitFor();
      await page.getByRole("button", { name: /Read gauge/ }).click();
      await page.getByText('"metres": 2').waitFor();
      await page.getByText("Rate limit reached.").waitFor();
      await shot(page, `parts-${size}-${theme}`);
      await expectNoAxeFindings(page);
      await close();
    }
    world.upstream.always("/chat/completions", text("Three metres."));
    const { page } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Three metres.", { exact: true }).waitFor();
    await page.getByText("2/2").waitFor();
    await page.getByRole("button", { name: "Version before" }).last().click();
    await page.getByText("Two metres.").waitFor();
    await page.getByText("Question 1", { exact: true }).hover();
    await page.getByRole("article", { name: "You" }).last().getByRole("button", { name: "Edit" }).click();
    await write(page.getByRole("textbox", { name: "Text of your message" }), "How deep is it?");
    await shot(page, "edit");
    await page.getByRole("button", { name: "Save and ask again" }).click();
    await page.getByText("How deep is it?").waitFor();
    await page.getByText("Three metres.", { exact: true }).waitFor();
    const reply = page.getByRole("article", { name: /Reply of alpha/ }).last();
    await reply.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText("The message was deleted.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Three metres.", { exact: true }).waitFor();
    await shot(page, "end");
  });

  test("opens sources, keeps a rating, and asks a follow-up", async () => {
    const id = await store(1, {
      content: "Wheels turn [1].",
      followUps: ["How fast?"],
      usage: { prompt_tokens: 12, completion_tokens: 34 },
      sources: [
        { source: { name: "Mills.pdf" }, document: ["A wheel turns in water."], metadata: [{ page: 2 }] },
      ],
    });
    world.upstream.always("/chat/completions", text("Four turns a minute."));
    const { page } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    await page.getByRole("button", { name: "1 source" }).waitFor();
    await page.getByRole("link", { name: "Source 1" }).click();
    await page.getByText("A wheel turns in water.").waitFor();
    await page.getByRole("button", { name: "12 tokens read · 34 tokens written" }).waitFor();
    await page.getByRole("button", { name: "Good reply" }).click();
    await page.getByRole("button", { name: "Well explained" }).click();
    await shot(page, "sources");
    await expectNoAxeFindings(page);
    await page
      .getByRole("region", { name: "Reason of the rating" })
      .getByRole("button", { name: "Save" })
      .click();
    await page.reload();
    await page.getByRole("button", { name: "Good reply", pressed: true }).waitFor();
    await page.getByRole("button", { name: "How fast?" }).click();
    await page.getByText("Four turns a minute.", { exact: true }).waitFor();
    await shot(page, "follow-up");
  });

  test("shows replies side by side and goes on with the chosen one", async () => {
    const column = (modelIdx: number, model: string) => ({
      id: `a${modelIdx}`,
      parentId: "q",
      childrenIds: [],
      role: "assistant",
      content: `${model} says that it turns.`,
      model,
      modelIdx,
      done: true,
      timestamp: 1_760_000_000,
    });
    const question = {
      id: "q",
      parentId: null,
      childrenIds: ["a0", "a1"],
      role: "user",
      content: "Does it turn?",
      models: ["alpha", "beta"],
      timestamp: 1_760_000_000,
    };
    const id = await post({ q: question, a0: column(0, "alpha"), a1: column(1, "beta") }, "a0");
    for (const size of ["desk", "phone"] as const) {
      const { page, close } = await openPage({
        url: world.app.url,
        token,
        path: `/c/${id}`,
        size,
        theme: "dark",
      });
      await page.getByText("alpha says that it turns.").waitFor();
      if (size === "desk") {
        await page.getByText("beta says that it turns.").waitFor();
        await page.getByRole("button", { name: "Continue with this one" }).click();
        await page.getByRole("button", { name: "Merge answers" }).waitFor();
        await shot(page, "columns-desk");
        await page.getByRole("button", { name: "Continue with this one" }).click();
      } else {
        await page.getByRole("radiogroup", { name: "Answers" }).getByText("beta").click();
        await page.getByText("beta says that it turns.").waitFor();
        await shot(page, "columns-phone");
      }
      await expectNoAxeFindings(page);
      await close();
    }
  });
});
