import { expect, test } from "vitest";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { isSpeech, isTranscription, toneWav } from "../../audio.fixture.ts";
import { startVoiceStage, type VoiceStage } from "../voice.fixture.ts";

describeInterface("the settings of voice", ({ setUp, openPage }) => {
  let stage: VoiceStage;

  setUp(async (keep) => {
    stage = await keep(startVoiceStage(openPage));
  });

  test("a person chooses who speaks and how fast, and hears it, on a desk and on a phone", async () => {
    const { page, close } = await stage.open({ path: "/settings/voice" });
    await page.getByRole("radiogroup", { name: "Speed" }).getByText("1.5×").click();
    await page.getByRole("button", { name: "Hear it" }).click();
    await expect.poll(() => stage.spoken().length).toBeGreaterThan(0);
    await expectNoAxeFindings(page);
    await page.getByText("This browser", { exact: true }).first().click();
    await page.getByText("One that this browser has", { exact: false }).waitFor();
    const own = async () =>
      (await stage.world.app.call("GET /api/v1/users/user/settings", { token: stage.token })).body.ui;
    await expect.poll(own).toMatchObject({ speechRate: 1.5, speechEngine: "browser" });
    await close();

    const phone = await stage.open({ path: "/settings/voice", size: "phone", theme: "dark" });
    await phone.page.getByRole("button", { name: "Hear it" }).waitFor();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page);
    await phone.close();
    await stage.set({ speechRate: null, speechEngine: null });
  });

  test("an administrator sees the engines and what they need, and hears and tries them, on a desk and on a phone", async () => {
    const { page, close } = await stage.open({ path: "/admin/audio" });
    await page.getByRole("combobox", { name: "Engine for speech" }).waitFor();
    await expectNoAxeFindings(page);
    const before = stage.engine.requests.filter(isSpeech).length;
    await write(page.getByRole("textbox", { name: "Speaking voice" }), "onyx");
    await page.getByText("Save to hear how it sounds.").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Hear it" }).click();
    await expect.poll(() => stage.engine.requests.filter(isSpeech).length).toBeGreaterThan(before);
    expect(stage.engine.requests.findLast(isSpeech)?.body).toMatchObject({ voice: "onyx" });
    await close();

    const phone = await stage.open({ path: "/admin/audio", size: "phone", theme: "dark" });
    await phone.page.getByRole("combobox", { name: "Engine for dictation" }).waitFor();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page);
  });

  test("a collection says that a recording is being transcribed", async () => {
    let finish = (): void => undefined;
    const heard = new Promise<void>((resolve) => (finish = resolve));
    stage.engine.reply(isTranscription, async (exchange) => {
      await heard;
      await json({ text: "The council meets on Friday." })(exchange);
    });
    const made = await stage.world.app.call("POST /api/v1/knowledge/create", {
      token: stage.token,
      body: { name: "Meetings", description: "" },
    });
    const { page } = await stage.open({ path: `/workspace/knowledge/${made.body.id}` });
    await page
      .getByLabel("Files to add")
      .setInputFiles([{ name: "council.wav", mimeType: "audio/wav", buffer: toneWav(2, { rests: false }) }]);
    await page.getByText("Transcribing", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
    finish();
    await page.getByText("Transcribing", { exact: true }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "council.wav" }).click();
    await page.getByText("The council meets on Friday.").first().waitFor();
  });
});
