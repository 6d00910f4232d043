import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";

describeInterface("one form in two windows", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha", "beta"], env: { ENABLE_CHANNELS: "true" } }));
    ({ token } = await world.app.admin());
  });

  const call = async (route: string, body?: unknown) => {
    const answer = await world.app.call(route, { token, body });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const open = async (path: string) => (await openPage({ url: world.app.url, token, path })).page;

  interface Form {
    /** Makes the thing; resolves to the address of its page. */
    make(): Promise<string>;
    /** Opens the form on the page. */
    begin?(page: Page): Promise<unknown>;
    label: string;
    stored(path: string): Promise<unknown>;
  }

  const idOf = (path: string) => path.split("/").at(-1) ?? "";
  const chooseInMenu = async (page: Page, button: Locator, item: string) => {
    await button.click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };

  const forms: Readonly<Record<string, Form>> = {
    "the own profile": {
      make: async () => "/settings/account",
      label: "Name",
      stored: async () => (await call("GET /api/v1/auths")).name,
    },
    "a user": {
      make: async () => `/admin/users/${(await world.app.user()).id}`,
      label: "Name",
      stored: async (path) => (await call(`GET /api/v1/users/${idOf(path)}`)).name,
    },
    "a group": {
      make: async () => `/admin/groups/${(await call("POST /api/v1/groups/create", { name: "Millers" })).id}`,
      label: "Description",
      stored: async (path) => (await call(`GET /api/v1/groups/id/${idOf(path)}`)).description,
    },
    "a collection": {
      make: async () => {
        const body = { name: "Rivers", description: "" };
        return `/workspace/knowledge/${(await call("POST /api/v1/knowledge/create", body)).id}`;
      },
      begin: (page) =>
        chooseInMenu(page, page.getByRole("button", { name: "More", exact: true }), "Name and description"),
      label: "What it is about",
      stored: async (path) => (await call(`GET /api/v1/knowledge/${idOf(path)}`)).description,
    },
    "a prompt": {
      make: async () => {
        const body = { name: "Letter", command: "letter", content: "Write a letter" };
        return `/workspace/prompt/${(await call("POST /api/v1/prompts/create", body)).id}`;
      },
      label: "Text",
      stored: async (path) => (await call(`GET /api/v1/prompts/id/${idOf(path)}`)).content,
    },
    "a skill": {
      make: async () => {
        const body = { id: "milling", name: "Milling", description: "How to mill", content: "Mill" };
        return `/workspace/skill/${(await call("POST /api/v1/skills/create", body)).id}`;
      },
      label: "Instructions",
      stored: async (path) => (await call(`GET /api/v1/skills/id/${idOf(path)}`)).content,
    },
    "an automation": {
      make: async () => {
        const data = { prompt: "Read the gauge", model_id: "alpha", rrule: "FREQ=DAILY;BYHOUR=9;BYMINUTE=0" };
        const made = await call("POST /api/v1/automations/create", { name: "Gauge", data });
        return `/automations/edit/${made.id}`;
      },
      label: "Prompt",
      stored: async (path) => (await call(`GET /api/v1/automations/${idOf(path)}`)).data.prompt,
    },
  };

  test.each(Object.entries(forms))("%s: the second learns what the first saved", async (_name, form) => {
    const path = await form.make();
    const windows = [await open(path), await open(path)] as const;
    const field = (page: Page) => page.getByRole("textbox", { name: form.label, exact: true });
    const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).first().click();
    for (const page of windows) {
      await form.begin?.(page);
      await field(page).waitFor();
    }
    const [first, second] = windows;
    await write(field(second), "Written second");
    await write(field(first), "Saved first");
    await save(first);
    await expect.poll(() => form.stored(path)).toBe("Saved first");
    await save(second);
    await second
      .getByText("Somebody changed this to “Saved first” meanwhile. Save again to replace it.")
      .first()
      .waitFor();
    expect(await field(second).inputValue()).toBe("Written second");
    expect(await form.stored(path)).toBe("Saved first");
    await expect.poll(() => field(second).getAttribute("aria-invalid")).toBe("true");
    await save(second);
    await expect.poll(() => form.stored(path)).toBe("Written second");
  });

  test("a folder takes the icon and the model of one and the instructions of the other", async () => {
    const { id } = await call("POST /api/v1/folders/", { name: "Water" });
    const windows = [await open("/"), await open("/")] as const;
    const dialog = (page: Page) => page.getByRole("dialog", { name: "Folder" });
    for (const page of windows) {
      await page.getByRole("button", { name: "Water", exact: true }).hover();
      await chooseInMenu(
        page,
        page.getByRole("button", { name: "Actions for “Water”" }),
        "Icon and instructions",
      );
      await dialog(page).getByRole("textbox", { name: "Instructions" }).waitFor();
    }
    const [first, second] = windows;
    await dialog(first).getByRole("button", { name: "Icon: none" }).click();
    await first.getByRole("button", { name: "🌊", exact: true }).click();
    await dialog(first).getByRole("button", { name: "Icon: 🌊" }).waitFor();
    await dialog(first).getByRole("button", { name: "Model: Default" }).click();
    await first.getByRole("button", { name: "beta", exact: true }).click();
    await dialog(first).getByRole("button", { name: "Model: beta" }).waitFor();
    await dialog(first).getByRole("button", { name: "Save" }).click();
    await dialog(first).waitFor({ state: "hidden" });
    await write(dialog(second).getByRole("textbox", { name: "Instructions" }), "Be short");
    await dialog(second).getByRole("button", { name: "Save" }).click();
    await dialog(second).waitFor({ state: "hidden" });
    expect(await call(`GET /api/v1/folders/${id}`)).toMatchObject({
      name: "Water",
      meta: { icon: "🌊" },
      data: { system_prompt: "Be short", model_ids: ["beta"] },
    });
    await first.getByRole("button", { name: /Water/ }).first().waitFor();
  });
});
