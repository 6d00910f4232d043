import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";
import { text } from "#test/support/upstream-scripts.ts";

describeInterface("the pages of models", ({ setUp, openPage }) => {
  let stage: AppWithUpstream;
  let folder: string;

  setUp(async (keep) => {
    stage = await keep(startAppWithUpstream({ models: ["alpha", "beta"] }));
    folder = await createTestFolder({});
    await keep({ close: () => removeTestFolder(folder) });
  });

  test("a model is made, tried, shared, changed by two, exported and synced", async () => {
    const { app, upstream } = stage;
    const { token } = await app.admin();
    const member = await app.user();
    const read = async () => (await app.call("GET /api/v1/models/model?id=miller", { token })).body;
    const { page } = await openPage({ url: app.url, token, path: "/workspace/models" });
    await page.getByText("No models of your own yet.").waitFor();
    await expectNoAxeFindings(page);

    await page.getByRole("link", { name: "New model" }).first().click();
    await write(page.getByRole("textbox", { name: "Name" }), "Miller");
    expect(await page.getByRole("textbox", { name: "Id", exact: true }).first().inputValue()).toBe("miller");
    await write(page.getByRole("textbox", { name: "System prompt" }), "You grind. It is ");
    await page.getByRole("button", { name: "CURRENT_DATE" }).click();
    await write(page.getByRole("spinbutton", { name: "Temperature" }), "9");
    await page.getByRole("checkbox", { name: "Sees pictures" }).click();
    await page.getByRole("button", { name: "Add a control" }).click();
    await write(page.getByRole("textbox", { name: "Label" }), "Thinking");
    await write(page.getByRole("textbox", { name: "Option 1" }), "Long");
    await write(page.getByRole("textbox", { name: "Adds to the request" }), "{not json");
    await page.getByText("Everyone signed in").click();
    await write(page.getByRole("spinbutton", { name: "Output" }), "12.5");
    await page.getByRole("button", { name: "Make the model" }).click();
    await page.getByText("must be a JSON object").first().waitFor();
    await write(page.getByRole("textbox", { name: "Adds to the request" }), '{"reasoning_effort": "high"}');
    await write(page.getByRole("spinbutton", { name: "Temperature" }), "0.4");
    await page.getByRole("button", { name: "Make the model" }).click();
    await page.waitForURL(/\/workspace\/models\/miller$/);
    const saved = await read();
    expect(saved).toMatchObject({
      base_model_id: "alpha",
      meta: { capabilities: { vision: false }, prices: { output: 12.5, currency: "USD" } },
      params: {
        system: "You grind. It is {{CURRENT_DATE}}",
        temperature: 0.4,
        model_controls: [
          { label: "Thinking", options: [{ label: "Long", params: { reasoning_effort: "high" } }] },
        ],
      },
    });
    const offered = (await app.call("GET /api/models", { token: member.token })).body.data;
    expect(offered.map(({ id }: { id: string }) => id)).toContain("miller");
    await expectNoAxeFindings(page);

    await page.getByRole("button", { name: "Why can somebody see this?" }).click();
    await write(page.getByRole("combobox", { name: "Person to explain" }), member.email);
    await page.getByRole("option", { name: member.email }).click();
    await page.getByText("It is shared with everybody who has an account.").waitFor();

    await page.getByRole("button", { name: "Try it" }).click();
    upstream.reply("/chat/completions", text("Flour **flies**."));
    await write(page.getByRole("textbox", { name: "Message" }), "Grind.");
    await page.keyboard.press("Enter");
    await page.locator("strong", { hasText: "flies" }).waitFor();
    expect(upstream.requests.at(-1)?.body).toMatchObject({ model: "alpha", temperature: 0.4 });
    await page.getByRole("button", { name: "Close the trial" }).click();

    await app.call("POST /api/v1/models/model/update", { token, body: { id: "miller", name: "Grinder" } });
    await write(page.getByRole("textbox", { name: "Description" }), "Grinds everything.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Somebody else saved this model meanwhile.").waitFor();
    expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Grinds everything.");
    await page.getByRole("button", { name: "Save mine over it" }).click();
    await expect.poll(async () => (await read()).meta.description).toBe("Grinds everything.");
    expect((await read()).name).toBe("Miller");

    await page.getByRole("link", { name: "Models" }).first().click();
    const row = page.getByRole("row", { name: /miller/ });
    await row.getByRole("switch").click();
    await expect.poll(async () => (await read()).is_active).toBe(false);

    const file = join(folder, "models.json");
    const { body } = await app.call("GET /api/v1/models/export", { token });
    await writeFile(
      file,
      JSON.stringify([{ ...body[0], id: "second", name: "Second" }, { name: "Nameless" }]),
    );
    await page.getByRole("button", { name: "Export and import" }).click();
    const chosen = page.waitForEvent("filechooser");
    await page.getByRole("menuitem", { name: "Sync" }).click();
    await (await chosen).setFiles(file);
    const dialog = page.getByRole("dialog", { name: "Sync models" });
    await dialog.getByText("1 new, 0 changed, 0 unchanged, 1 refused").waitFor();
    await dialog.getByRole("listitem").filter({ hasText: "Nameless" }).getByText(/^id: /).waitFor();
    // The record that opens the guide to everyone is not in the file either.
    await dialog.getByText("2 models are deleted").waitFor();
    expect(await dialog.getByRole("button", { name: "Sync models" }).isDisabled()).toBe(true);
    await expectNoAxeFindings(page, "[role=dialog]");
    await page.keyboard.press("Escape");

    await row.getByRole("button", { name: /^Actions/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await row.waitFor();

    await page.getByRole("button", { name: "Begin new chats with beta" }).click();
    await page.getByRole("button", { name: "Move beta up" }).click();
    await page.getByRole("button", { name: "Save the order" }).click();
    await expect
      .poll(async () => (await app.call("GET /api/v1/configs/models", { token })).body.DEFAULT_MODELS)
      .toBe("beta");

    await page.getByRole("button", { name: "Add an arena model" }).click();
    await page.getByText("Only these").click();
    await page.getByRole("checkbox", { name: "beta" }).click();
    await page.getByRole("button", { name: "Save the arena models" }).click();
    const arenas = async () =>
      (await app.call("GET /api/v1/evaluations/config", { token })).body.EVALUATION_ARENA_MODELS;
    await expect
      .poll(arenas)
      .toMatchObject([{ name: "Arena", meta: { model_ids: ["beta"], filter_mode: "include" } }]);

    await page.goto(`${app.url}/workspace/models/miller`);
    const picture = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
      "base64",
    );
    await page
      .getByLabel("Background file")
      .setInputFiles({ name: "race.png", mimeType: "image/png", buffer: picture });
    await page.getByRole("button", { name: "Remove background" }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(async () => (await read()).meta.background_image_url).toMatch(/^\/api\/v1\/files\//);
    await app.call("POST /api/v1/models/model/toggle?id=miller", { token });
    await page.goto(`${app.url}/?models=miller`);
    await page.locator('img[src^="/api/v1/files/"]').waitFor();
  });

  test("a phone shows the list and the editor, and who may not change a model reads why", async () => {
    const { app } = stage;
    const admin = await app.admin();
    const member = await app.user();
    await app.call("POST /api/v1/users/default/permissions", {
      token: admin.token,
      body: { workspace: { models: true } },
    });
    const open = { url: app.url, size: "phone", theme: "dark" } as const;
    const { page } = await openPage({
      ...open,
      token: member.token,
      path: "/workspace/models/miller",
    });
    await page.getByText("You may use this model, not change it.").waitFor();
    await expectNoAxeFindings(page);
    await page.goto(`${app.url}/workspace/models`);
    await page.getByRole("link", { name: /miller/i }).waitFor();
    await expectNoAxeFindings(page);
  });
});
