import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { corpus, ranMark } from "#plugins/web/kit/markdown/corpus.fixture.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { type, write } from "#test/support/hands.ts";
import { text } from "#test/support/upstream-scripts.ts";

describeInterface("texts of others", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  const payloads = corpus.filter((one) => one.isWellFormed());
  const hasRun = (page: Page) =>
    Promise.all(page.frames().map((frame) => frame.evaluate((mark) => mark in globalThis, ranMark)));

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha"] }));
    world.upstream.always("/chat/completions", text("The wheel turns."));
    ({ token } = await world.app.admin());
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
  async function call(route: string, body?: unknown): Promise<any> {
    const answer = await world.app.call(route, { token, body });
    expect(answer.status, `${route}: ${answer.text.slice(0, 300)}`).toBe(200);
    return answer.body;
  }

  /** A chat of one question and one reply; `last` goes into the reply. */
  function chatOf(title: string, question: string, last: object) {
    const q = {
      id: "q",
      parentId: null,
      childrenIds: ["a"],
      role: "user",
      content: question,
      models: ["alpha"],
    };
    const a = {
      id: "a",
      parentId: "q",
      childrenIds: [],
      role: "assistant",
      model: "alpha",
      done: true,
      ...last,
    };
    return { title, models: ["alpha"], history: { messages: { q, a }, currentId: "a" } };
  }

  const make = async (title: string, question: string, last: object): Promise<string> =>
    (await call("POST /api/v1/chats/new", { chat: chatOf(title, question, last) })).id;

  test("texts of others run nothing and call nobody where they are names, titles and parts of replies", async () => {
    await call("POST /api/v1/chats/import", {
      chats: payloads.map((title) => ({
        chat: chatOf(title.slice(0, 200), title, { content: "It turns." }),
      })),
    });
    const all = payloads.join("\n");
    const id = await make(payloads[5] ?? "", all, {
      content: "It turns [1].",
      modelName: payloads[6],
      error: { content: all },
      followUps: payloads,
      statusHistory: payloads.map((description) => ({ description, done: true })),
      sources: payloads.map((one) => ({
        source: { name: one, url: one },
        document: [one],
        metadata: [{ source: one, name: one }],
      })),
      files: payloads.map((name, at) => ({ type: "file", id: `f${at}`, name, url: name })),
      output: [
        { type: "reasoning", id: "r", status: "completed", content: [{ type: "output_text", text: all }] },
        {
          type: "function_call",
          id: "c",
          call_id: "c",
          status: "completed",
          name: payloads[7],
          arguments: all,
        },
        { type: "function_call_output", id: "o", call_id: "c", output: [{ type: "input_text", text: all }] },
        {
          type: "message",
          id: "m",
          status: "completed",
          content: [{ type: "output_text", text: "It turns [1]." }],
        },
      ],
    });
    await call("POST /api/v1/auths/update/profile", { name: payloads[4], profile_image_url: "/user.png" });
    const { share_id: shareId } = await call(`POST /api/v1/chats/${id}/share`);
    await call(`POST /api/v1/chats/shared/${id}/access/update`, {
      access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
    });

    const { page } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    const reply = page.getByRole("article", { name: /Reply of/ });
    await reply.waitFor();
    for (const name of [/Thought/, /sources/]) {
      await page.getByRole("button", { name }).first().click();
    }
    expect(await hasRun(page)).not.toContain(true);
    await page.keyboard.press("Control+k");
    await write(
      page
        .getByRole("dialog")
        .getByRole("combobox")
        .or(page.getByRole("dialog").getByRole("textbox"))
        .first(),
      "img",
    );
    await page.getByRole("dialog").getByText("onerror").first().waitFor();
    await page.keyboard.press("Escape");
    for (const content of payloads.slice(0, 60)) {
      await call(`POST /api/v1/chats/${id}/messages/a/event`, {
        type: "notification",
        data: { type: "info", content },
      });
    }
    await page.getByText("Sign in again").first().waitFor();
    await page
      .locator("nav, aside")
      .first()
      .evaluate((node) => {
        for (const one of node.querySelectorAll("*")) {
          one.scrollTop = one.scrollHeight;
        }
      });
    expect(await hasRun(page)).not.toContain(true);
    expect(await page.locator("iframe:not([sandbox]), object, embed, base, script:not([src])").count()).toBe(
      0,
    );
    await page.goto(`${world.app.url}/s/${shareId}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByText("It turns").first().waitFor();
    expect(await hasRun(page)).not.toContain(true);
  });

  const bad: Readonly<Record<string, string>> = {
    "a line of 2 MB": "wheel ".repeat(340_000),
    "500 nested lists": Array.from({ length: 500 }, (_, at) => `${"  ".repeat(at)}- level ${at}`).join("\n"),
    "an unclosed fence": `\`\`\`js\n${"const wheel = 1;\n".repeat(2000)}`,
    "a table of 10,000 rows": `| a | b |\n|---|---|\n${Array.from({ length: 10_000 }, (_, at) => `| ${at} | wheel |`).join("\n")}`,
    "broken maths": "$\\frac{1}{$ wheel $$\\begin{matrix} 1 & $$ and $\\undefined{x}$",
    "a diagram that is none": "```mermaid\ngraph TD; A--\n```\nwheel",
    "joiners without end": `wheel ${"👩\u200d".repeat(100_000)}`,
    "a name that turns round": "wheel \u202egnp.exe \u2066 x \u2067 y",
    "a picture with a script":
      "wheel ![x](data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>)",
  };

  test("bad input is shown, and the page takes keys meanwhile", async () => {
    const { page } = await openPage({ url: world.app.url, token });
    const slow: string[] = [];
    for (const [name, content] of Object.entries(bad)) {
      const id = await make(name, "Show it", { content });
      await page.goto(`${world.app.url}/c/${id}`);
      await page
        .getByRole("article", { name: /Reply of/ })
        .getByText(/wheel|level|1/)
        .first()
        .waitFor({ state: "attached" });
      await page.getByRole("textbox", { name: "Message" }).click();
      const started = performance.now();
      await type(page, "key");
      const took = Math.round(performance.now() - started);
      if (process.env["SHOTS"]) {
        await page.screenshot({ path: `${process.env["SHOTS"]}/bad-${name.replaceAll(/\W+/g, "-")}.png` });
      }
      if (took > 2000) {
        slow.push(`${name}: ${took} ms`);
      }
      expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("key");
      await write(page.getByRole("textbox", { name: "Message" }), "");
    }
    expect(slow).toEqual([]);

    // Half a character cannot be stored: a mark stands in its place.
    await page.goto(world.app.url);
    const field = page.getByRole("textbox", { name: "Message" });
    await field.waitFor();
    await field.evaluate((node: HTMLTextAreaElement) => {
      node.value = "half \ud800 a \u0000character";
      // oxlint-disable-next-line no-restricted-properties -- no keyboard has half a character
      node.dispatchEvent(new InputEvent("input", { bubbles: true }));
    });
    await field.press("Enter");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.getByText("half \ufffd a character").first().waitFor();
  });
});
