import { expect, test } from "vitest";
import { permit } from "#plugins/workspace-tools/tools.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { failure, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

describeInterface("automations", ({ setUp, openPage }) => {
  let app: App;
  let upstream: Upstream;
  let owner: TestUser;

  setUp(async (keep) => {
    upstream = await keep(startUpstream());
    upstream.models = ["alpha"];
    upstream.always(text("The river is calm."));
    app = await keep(
      startApp({
        env: {
          OPENAI_API_BASE_URLS: upstream.url,
          OPENAI_API_KEYS: "key",
          BYPASS_MODEL_ACCESS_CONTROL: "true",
        },
      }),
    );
    owner = await app.user();
    await permit(app, [owner], { features: { automations: true } });
  });

  const call = (route: string, body?: unknown) =>
    app.call(route, { token: owner.token, ...(body === undefined ? {} : { body }) });

  test("an automation is written in words, runs, is paused, and shows on the calendar and on a phone", async () => {
    await call("POST /api/v1/folders/", { name: "Reports" });
    const open = { url: app.url, token: owner.token };
    const { page, close } = await openPage({ ...open, path: "/automations" });
    await page.getByText("Nothing runs by itself yet.").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: "New automation" }).click();
    await write(page.getByRole("textbox", { name: "Name" }), "Gauge of the morning");
    await write(page.getByRole("textbox", { name: "Prompt" }), "How high is the river?");
    const [when, rule] = [
      page.getByRole("textbox", { name: "When" }),
      page.getByRole("textbox", { name: "Rule" }),
    ];
    await write(when, "every weekday at 9");
    expect(await rule.inputValue()).toBe("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0");
    const nextRuns = page.getByRole("group", { name: "Next runs" }).getByRole("listitem");
    await expect.poll(() => nextRuns.count()).toBe(5);
    await write(when, "every weekday at 9 unless it rains");
    await page.getByText("“unless it rains” was not understood.").waitFor();
    expect(await page.getByRole("button", { name: "Save and start" }).isDisabled()).toBe(true);
    await write(rule, "FREQ=DAILY;BYHOUR=18;BYMINUTE=30");
    expect((await when.inputValue()).replaceAll("\u202F", " ")).toBe("every day at 6:30 PM");
    await write(rule, "FREQ=DAILY;BYHOUR=99");
    await page.getByText("BYHOUR is unknown or has a wrong value").waitFor();
    await page.getByRole("button", { name: "every Monday at 8:30" }).click();
    await page
      .getByRole("button", { name: /^Folder/ })
      .or(page.getByRole("combobox", { name: /^Folder/ }))
      .first()
      .click();
    await page.getByRole("option", { name: "Reports" }).click();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Save and start" }).click();
    await page.waitForURL(/\/automations\/edit\/[\w-]+$/);
    await page.getByText("It has not run yet.").waitFor();

    await page.getByRole("button", { name: "Run now" }).click();
    const history = page.getByRole("list", { name: "History" });
    await history.getByText("done").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await history.getByRole("link", { name: "Open the chat" }).click();
    await page.getByText("The river is calm.").first().waitFor();
    await close();

    const { items } = (await call("GET /api/v1/automations/list")).body;
    expect(items[0]).toMatchObject({
      is_active: true,
      folder_id: expect.any(String),
      data: { model_id: "alpha" },
    });
    const [calendar] = (await call("GET /api/v1/calendars/")).body.filter(
      ({ is_system }: { is_system: boolean }) => is_system,
    );
    expect(calendar).toMatchObject({ id: "__scheduled_tasks__" });

    const phone = await openPage({ ...open, path: "/automations", size: "phone" });
    await phone.page
      .getByText("Every Monday at 8:30")
      .or(phone.page.getByText("every Monday at 8:30"))
      .first()
      .waitFor();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page);
    await phone.page.getByRole("button", { name: "Actions for “Gauge of the morning”" }).click();
    await phone.page.getByRole("menuitem", { name: "Pause" }).click();
    await phone.page.getByText("paused", { exact: true }).waitFor();
    await phone.page.getByRole("link", { name: "Gauge of the morning" }).click();
    await phone.page.getByRole("list", { name: "History" }).getByText("done").waitFor();
    await expectNoAxeFindings(phone.page);
  });

  test("a run that fails tells its owner by a toast, whichever page is open", async () => {
    const form = { prompt: "How high is it?", model_id: "alpha", rrule: "FREQ=DAILY;BYHOUR=9" };
    const { id } = (await call("POST /api/v1/automations/create", { name: "Broken gauge", data: form })).body;
    const { page, close } = await openPage({ url: app.url, token: owner.token, path: "/calendar" });
    await page.getByRole("button", { name: "New event", exact: true }).waitFor();
    upstream.reply(({ body }) => body?.stream === true, failure(400, "The gauge is frozen."));
    await call(`POST /api/v1/automations/${id}/run`);
    await page.getByText("Automation failed: Broken gauge").waitFor();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByText("How high is it?").first().waitFor();
    await close();
    await call(`DELETE /api/v1/automations/${id}/delete`);
  });

  test("the calendar shows the runs of a day in one line, and each of them when it is opened", async () => {
    // A second try must not count the runs of the first.
    const { items } = (await call("GET /api/v1/automations/list?query=News")).body;
    await Promise.all(
      items.map((old: { id: string }) => call(`DELETE /api/v1/automations/${old.id}/delete`)),
    );
    const form = { prompt: "What is new?", model_id: "alpha", rrule: "FREQ=HOURLY;INTERVAL=2" };
    const { id } = (await call("POST /api/v1/automations/create", { name: "News", data: form })).body;
    const { page, close } = await openPage({ url: app.url, token: owner.token, path: "/calendar" });
    const days = page.getByRole("gridcell").filter({ has: page.getByRole("button", { name: /News/ }) });
    // Days of which a part has passed, and weeks that end today, hold fewer runs.
    await page.getByRole("button", { name: "Later" }).click();
    await days.nth(10).waitFor();
    const perDay = await days.evaluateAll((cells) =>
      cells.map(
        (cell) =>
          [...cell.querySelectorAll("button")].filter(({ textContent }) => textContent.includes("News"))
            .length,
      ),
    );
    expect(new Set(perDay)).toEqual(new Set([1]));
    await days
      .nth(1)
      .getByRole("button", { name: /News.*12 runs/ })
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("What is new?").waitFor();
    expect(await dialog.getByRole("list", { name: "Runs" }).getByText("planned").count()).toBe(12);
    await expectNoAxeFindings(page, "[role=dialog]");
    await dialog.getByRole("link", { name: "Open the automation" }).click();
    await page.waitForURL(`**/automations/edit/${id}`);
    await page.goto(`${app.url}/calendar`);
    await page.getByText("Week", { exact: true }).click();
    await page.getByRole("button", { name: "Later" }).click();
    await page
      .getByRole("group", { name: "Hours", exact: true })
      .getByRole("button", { name: /News.*12 runs/ })
      .first()
      .waitFor();
    await expectNoAxeFindings(page);
    await page.getByText("Agenda", { exact: true }).click();
    await page
      .getByRole("button", { name: /News.*12 runs/ })
      .first()
      .waitFor();
    await expectNoAxeFindings(page);
    await close();
    await call(`DELETE /api/v1/automations/${id}/delete`);
  });

  test("a failed run says why and what to do", async () => {
    const data = { prompt: "Gone?", model_id: "alpha", rrule: "FREQ=DAILY;BYHOUR=9" };
    const { body } = await call("POST /api/v1/automations/create", { name: "Lost", data });
    upstream.models = ["beta"];
    await app.call("GET /api/models?refresh=true", { token: owner.token });
    const { page } = await openPage({
      url: app.url,
      token: owner.token,
      path: `/automations/edit/${body.id}`,
    });
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByText("The last run failed.").waitFor();
    await page.getByText(/stopped before a chat was made/).waitFor();
    await page.getByText("alpha (not available)").waitFor();
    await expectNoAxeFindings(page);
  });
});
