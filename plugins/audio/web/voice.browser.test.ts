import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { openBrowser } from "#test/support/browser.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { paced } from "#test/support/upstream-paced.ts";
import { failure, json, text } from "#test/support/upstream-scripts.ts";
import { isSpeech, isTranscription, readForm, speaks, toneWav } from "../audio.fixture.ts";
import { coverMicrophone, startVoiceStage, type VoiceStage } from "./voice.fixture.ts";

describeInterface("voice in chats", ({ setUp, openPage }) => {
  let stage: VoiceStage;

  setUp(async (keep) => {
    stage = await keep(startVoiceStage(openPage));
  });
  afterEach(() => stage.set({ responseAutoPlayback: null, speechAutoSend: null, speechVoice: null }));

  const fieldOf = (page: Page) => page.getByRole("textbox", { name: "Message" });
  const stateOf = (page: Page, state: string) => page.locator(`[data-call="${state}"]`);
  const isHeard = (page: Page) =>
    page.waitForFunction(
      () => Number(document.querySelector<HTMLElement>("[data-level]")?.dataset["level"]) > 0.1,
    );
  /** Remembers the player of speech, which stands nowhere in the page. */
  const watchPlayer = (page: Page) =>
    page.evaluate(() => {
      const { play } = HTMLMediaElement.prototype;
      HTMLMediaElement.prototype.play = function () {
        Object.assign(globalThis, { player: this });
        return play.call(this);
      };
    });
  const isPaused = (page: Page) =>
    page.evaluate(() => (globalThis as { player?: HTMLMediaElement }).player?.paused);
  const heard = () => stage.engine.requests.filter(isTranscription);

  test("writes a dictation into the field, and nothing of a discarded one", async () => {
    const { page } = await stage.open();
    await write(fieldOf(page), "First:");
    await page.getByRole("button", { name: "Dictate" }).click();
    await isHeard(page);
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Take the dictation over" }).click();
    await page.waitForFunction(() => document.querySelector("textarea")?.value === "First: Hello there.");
    const form = await readForm(heard().at(-1)!);
    expect((form["file"] as File).name).toBe("recording.webm");
    expect((form["file"] as File).size).toBeGreaterThan(1000);

    const before = heard().length;
    await page.getByRole("button", { name: "Dictate" }).click();
    await page.getByRole("group", { name: "Dictation" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("group", { name: "Dictation" }).waitFor({ state: "detached" });
    expect(await fieldOf(page).inputValue()).toBe("First: Hello there.");
    expect(heard().length).toBe(before);

    stage.engine.reply(isTranscription, failure(429, "Too many recordings."));
    await page.getByRole("button", { name: "Dictate" }).click();
    await isHeard(page);
    await page.getByRole("button", { name: "Take the dictation over" }).click();
    await page.getByRole("alert").filter({ hasText: "asked too often" }).waitFor();
  });

  test("sends a dictation at once where the person wants that, on a German phone", async () => {
    await stage.set({ speechAutoSend: true });
    stage.world.upstream.always("/chat/completions", text("The wheel turns."));
    const { page } = await stage.open({ size: "phone", locale: "de-DE" });
    await page.getByRole("button", { name: "Diktieren" }).click();
    await page.getByRole("group", { name: "Diktat" }).waitFor();
    await isHeard(page);
    await page.getByRole("button", { name: "Diktat übernehmen" }).click();
    await page.getByText("The wheel turns.").first().waitFor();
    await page.getByRole("button", { name: "Vorlesen" }).last().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
  });

  test("says why there is no microphone to speak into", async () => {
    const browser = await openBrowser();
    const { page, context, close } = await openPage({
      url: stage.world.app.url,
      token: stage.token,
    });
    await context.grantPermissions([]);
    await page.getByRole("button", { name: "Dictate" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: /microphone/ })
      .waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("button", { name: "Talk" }).click();
    await stateOf(page, "failed").waitFor();
    await page
      .getByRole("dialog")
      .getByText(/microphone/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Hang up" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await close();
    await browser.close();
  });

  test("reads a reply aloud while it is written, pauses and ends", async () => {
    await stage.set({ responseAutoPlayback: true, speechVoice: "echo" });
    stage.engine.always(isSpeech, speaks(toneWav(3, { rests: false }), "audio/wav"));
    const sentences = [
      `The wheel turns slowly. `,
      `The stone grinds the grain. `,
      `The miller sleeps at noon.`,
    ];
    const slow = sentences.flatMap((sentence) => sentence.split(/(?<= )/));
    stage.world.upstream.always("/chat/completions", paced(slow, { every: 350 }));
    const { page } = await stage.open();
    await watchPlayer(page);
    const before = stage.spoken().length;
    await write(fieldOf(page), "Tell of the mill");
    await fieldOf(page).press("Enter");
    const strip = page.getByRole("group", { name: "Reading aloud" });
    await strip.getByText("The wheel turns slowly").waitFor();
    // The first sentence is heard before the last one is written.
    await page.getByRole("button", { name: "Stop the reply" }).waitFor();
    await expectNoAxeFindings(page);
    await strip.getByText("The stone grinds the grain").waitFor({ timeout: 10_000 });
    await strip.getByRole("button", { name: "Pause reading" }).click();
    await expect.poll(() => isPaused(page)).toBe(true);
    await strip.getByText("The stone grinds the grain").waitFor();
    await strip.getByRole("button", { name: "Go on reading" }).click();
    await expect.poll(() => isPaused(page)).toBe(false);
    await strip.getByText("The miller sleeps at noon").waitFor({ timeout: 10_000 });
    await strip.getByRole("button", { name: "End the reading" }).click();
    await strip.waitFor({ state: "detached" });
    expect(stage.spoken().slice(before)).toEqual(sentences.map((sentence) => sentence.trim()));
    expect(stage.engine.requests.findLast(isSpeech)?.body).toMatchObject({ voice: "echo" });

    stage.engine.reply(isSpeech, failure(400, "No such voice."));
    stage.world.upstream.always("/chat/completions", text(`Nobody hears this sentence.`));
    await write(fieldOf(page), "And then?");
    await fieldOf(page).press("Enter");
    await page.getByText("The reply was not read to its end.").waitFor();
  });

  test("talks: hears a question, speaks the reply, is interrupted by speech, and hangs up", async () => {
    const { engine, world } = stage;
    engine.always(isSpeech, speaks(toneWav(30, { rests: false }), "audio/wav"));
    engine.always(isTranscription, json({ text: "" }));
    engine.reply(isTranscription, json({ text: "What is a mill?" }));
    world.upstream.always("/chat/completions", text("A mill grinds grain. Its wheel turns in the water."));
    const { page } = await stage.open();
    const microphone = await coverMicrophone(page);
    const dialog = page.getByRole("dialog", { name: "Call" });
    const speak = async () => {
      await microphone.lift();
      await stateOf(page, "hearing").waitFor();
      await microphone.cover();
    };
    await page.getByRole("button", { name: "Talk" }).click();
    await stateOf(page, "listening").waitFor();
    await expectNoAxeFindings(page);
    await speak();
    await dialog.getByText("What is a mill?").waitFor();
    await stateOf(page, "speaking").waitFor();
    await dialog.getByText("A mill grinds grain.").waitFor();
    await expectNoAxeFindings(page);
    const asked = world.upstream.requests.findLast(({ body }) => body?.stream === true);
    expect(JSON.stringify(asked?.body)).toContain("hears your answer read aloud");

    // The sound takes half a minute: what ends it is the person who speaks over it.
    engine.reply(isTranscription, json({ text: "And the stone?" }));
    await speak();
    await dialog.getByText("And the stone?").waitFor();
    await stateOf(page, "speaking").waitFor();
    await page.keyboard.press("m");
    await dialog.getByRole("button", { name: "Switch the microphone on" }).waitFor();
    await dialog.getByRole("button", { name: "Stop the speech" }).click();
    await dialog.getByRole("status").getByText("Muted").waitFor();
    await dialog.getByRole("button", { name: "Hang up" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("And the stone?").first().waitFor();
  });
});
