import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("the page of evaluations", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(startApp());
  });

  test("an administrator compares models, reads a model's days and deletes a rating", async () => {
    const { token } = await app.admin();
    const member = await app.user();
    const rate = async (rating: 1 | -1, model: string, sibling: string) => {
      const message = {
        id: "m1",
        parentId: null,
        childrenIds: [],
        role: "assistant",
        content: "Yes",
        timestamp: 1,
        model,
      };
      const chat = {
        title: "Rated",
        models: [model],
        history: { currentId: "m1", messages: { m1: message } },
      };
      const { id } = (await app.call("POST /api/v1/chats/new", { token: member.token, body: { chat } })).body;
      const told = { reason: "Correct", comment: "Clear words", tags: ["code"] };
      const data = { rating, model_id: model, sibling_model_ids: [sibling], ...told };
      const body = { type: "rating", data, meta: { arena: true, chat_id: id, message_id: "m1" } };
      const { status } = await app.call("POST /api/v1/evaluations/feedback", { token: member.token, body });
      expect(status).toBe(200);
    };
    await rate(1, "alpha", "beta");
    await rate(-1, "beta", "alpha");
    const { page } = await openPage({ url: app.url, token, path: "/admin/evaluations" });
    const board = page.getByRole("table", { name: "Leaderboard" });
    await board.getByRole("row", { name: /alpha/ }).waitFor();
    expect(await board.getByRole("row").nth(1).innerText()).toContain("alpha");
    await write(page.getByRole("searchbox", { name: "Narrow down by tags" }), "poetry");
    await page.getByText("No rating has such a tag.").waitFor();
    await write(page.getByRole("searchbox", { name: "Narrow down by tags" }), "");
    await page.getByRole("button", { name: "History of alpha" }).click();
    await page.getByRole("table", { name: "Ratings by day" }).getByRole("row").nth(1).waitFor();
    await expectNoAxeFindings(page);

    await page.getByRole("tab", { name: "Ratings" }).click();
    const ratings = page.getByRole("table", { name: "Ratings" });
    await ratings.getByText("Correct: Clear words").first().waitFor();
    await expectNoAxeFindings(page);
    await ratings
      .getByRole("row", { name: /beta/ })
      .filter({ hasText: "bad" })
      .getByRole("button", { name: "Delete this rating" })
      .click();
    await page.getByText("The rating is deleted.").waitFor();
    await page.goto(`${app.url}/`);
    await expect
      .poll(async () => (await app.call("GET /api/v1/evaluations/feedbacks/list", { token })).body.total, {
        timeout: 5000,
      })
      .toBe(1);
  });
});
