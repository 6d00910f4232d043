import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";

describeInterface("5,000 models", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    const models = Array.from({ length: 5000 }, (_one, at) => `model-${String(at).padStart(4, "0")}`);
    world = await keep(startAppWithUpstream({ models }));
    ({ token } = await world.app.admin());
  });

  test.each(["desk", "phone"] as const)("are searched in the picker of a chat, on a %s", async (size) => {
    const { page } = await openPage({ url: world.app.url, token, size });
    await page.getByRole("button", { name: /^Model: / }).click();
    await page.locator("[data-model]").first().waitFor();
    // The page holds the rows that are looked at, so that opening costs the same for any number of models.
    expect(await page.locator("[data-model]").count()).toBeLessThan(100);
    await page.getByRole("searchbox", { name: "Search models" }).click();
    await page.keyboard.type("4321");
    await page.locator('[data-model="model-4321"]').waitFor();
    expect(await page.locator("[data-model]").count()).toBe(1);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Model: model-4321" }).waitFor();
  });

  test("are searched in a select of a form, by keys alone", async () => {
    const { page } = await openPage({ url: world.app.url, token, path: "/workspace/new-prompt" });
    const select = page.getByRole("combobox", { name: "Model" });
    await select.click();
    await page.getByText("Type to see more.").waitFor();
    expect(await page.getByRole("option").count()).toBe(100);
    await page.keyboard.type("4321");
    await page.getByRole("option", { name: "model-4321" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => select.inputValue()).toBe("model-4321");
    await page.keyboard.press("Escape");
    await expect.poll(() => select.inputValue()).toBe("model-4321");
  });
});
