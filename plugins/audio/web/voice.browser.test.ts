import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { paced } from "#test/support/upstream-paced.ts";
import { failure, json, text } from "#test/support/upstream-scripts.ts";
import { isSpeech, isTranscription, readForm, speaks, toneWav } from "../audio.fixture.ts";
import { startVoiceStage, type VoiceStage } from "./voice.fixture.ts";

const browsed = test.skipIf(chromiumPath === undefined);
let stage: VoiceStage;
let attempts = 0;

beforeAll(async () => void (stage = await startVoiceStage()));
afterAll(() => stage?.close());
afterEach(() => stage.set({ responseAutoPlayback: null, speechAutoSend: null, speechVoice: null }));

const fieldOf = (page: Page) => page.getByRole("textbox", { name: "Message" });
const stateOf = (page: Page, state: string) => page.locator(`[data-call="${state}"]`);
const heard = () => stage.engine.requests.filter(isTranscription);

browsed(
  "writes a dictation into the field, and nothing of a discarded one",
  async () => {
    const { page, close } = await stage.open();
    await fieldOf(page).fill("First:");
    await page.getByRole("button", { name: "Dictate" }).click();
    await page.waitForFunction(
      () => Number(document.querySelector<HTMLElement>("[data-level]")?.dataset["level"]) > 0.1,
    );
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
    await page.getByRole("button", { name: "Take the dictation over" }).click();
    await page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
    await close();
  },
  60_000,
);

browsed(
  "sends a dictation at once where the person wants that, on a German phone",
  async () => {
    await stage.set({ speechAutoSend: true });
    stage.world.upstream.always("/chat/completions", text("The wheel turns."));
    const { page, close } = await stage.open({ size: "phone", locale: "de-DE" });
    await page.getByRole("button", { name: "Diktieren" }).click();
    await page.getByRole("group", { name: "Diktat" }).waitFor();
    await page.waitForTimeout(800);
    await page.getByRole("button", { name: "Diktat übernehmen" }).click();
    await page.getByText("The wheel turns.").first().waitFor();
    await page.getByRole("button", { name: "Vorlesen" }).last().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
    await close();
  },
  60_000,
);

browsed(
  "says why there is no microphone to speak into",
  async () => {
    const browser = await openBrowser();
    const { page, context, close } = await openPage(browser, {
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
  },
  60_000,
);

browsed(
  "reads a reply aloud while it is written, pauses and ends",
  async () => {
    await stage.set({ responseAutoPlayback: true, speechVoice: "echo" });
    stage.engine.always(isSpeech, speaks(toneWav(3, { rests: false }), "audio/wav"));
    // What was spoken before comes from the store, so each try has texts of its own.
    attempts += 1;
    const sentences = [
      `The wheel turns slowly, ${attempts}. `,
      `The stone grinds the grain, ${attempts}. `,
      `The miller sleeps at noon, ${attempts}.`,
    ];
    const slow = sentences.flatMap((sentence) => sentence.split(/(?<= )/));
    stage.world.upstream.always("/chat/completions", paced(slow, { every: 350 }));
    const { page, close } = await stage.open();
    const before = stage.spoken().length;
    await fieldOf(page).fill("Tell of the mill");
    await fieldOf(page).press("Enter");
    const strip = page.getByRole("group", { name: "Reading aloud" });
    await strip.getByText("The wheel turns slowly").waitFor();
    // The first sentence is heard before the last one is written.
    await page.getByRole("button", { name: "Stop the reply" }).waitFor();
    await expectNoAxeFindings(page);
    await strip.getByText("The stone grinds the grain").waitFor({ timeout: 10_000 });
    await strip.getByRole("button", { name: "Pause reading" }).click();
    await page.waitForTimeout(3500);
    await strip.getByText("The stone grinds the grain").waitFor();
    await strip.getByRole("button", { name: "Go on reading" }).click();
    await strip.getByText("The miller sleeps at noon").waitFor({ timeout: 10_000 });
    await strip.getByRole("button", { name: "End the reading" }).click();
    await strip.waitFor({ state: "detached" });
    expect(stage.spoken().slice(before)).toEqual(sentences.map((sentence) => sentence.trim()));
    expect(stage.engine.requests.findLast(isSpeech)?.body).toMatchObject({ voice: "echo" });

    stage.engine.reply(isSpeech, failure(400, "No such voice."));
    stage.world.upstream.always("/chat/completions", text(`Nobody hears this sentence, ${attempts}.`));
    await fieldOf(page).fill("And then?");
    await fieldOf(page).press("Enter");
    await page.getByText("The reply was not read to its end.").waitFor();
    await close();
  },
  60_000,
);

browsed(
  "talks: hears a question, speaks the reply, is interrupted by speech, and hangs up",
  async () => {
    const { engine, world } = stage;
    engine.always(isSpeech, speaks(toneWav(30, { rests: false }), "audio/wav"));
    engine.always(isTranscription, json({ text: "" }));
    engine.reply(isTranscription, json({ text: "What is a mill?" }));
    world.upstream.always("/chat/completions", text("A mill grinds grain. Its wheel turns in the water."));
    const { page, close } = await stage.open();
    const talk = page.getByRole("button", { name: "Talk" });
    await talk.click();
    const dialog = page.getByRole("dialog", { name: "Call" });
    await stateOf(page, "listening").waitFor();
    await expectNoAxeFindings(page);
    await stateOf(page, "hearing").waitFor({ timeout: 15_000 });
    await dialog.getByText("What is a mill?").waitFor({ timeout: 15_000 });
    await stateOf(page, "speaking").waitFor();
    await dialog.getByText("A mill grinds grain.").waitFor();
    await expectNoAxeFindings(page);
    const asked = world.upstream.requests.findLast(({ body }) => body?.stream === true);
    expect(JSON.stringify(asked?.body)).toContain("hears your answer read aloud");

    // The sound takes half a minute: what ends it is the person who speaks over it.
    engine.reply(isTranscription, json({ text: "And the stone?" }));
    const isSilent = () => page.locator('[data-call="hearing"], [data-call="writing"]').first();
    await isSilent().waitFor({ timeout: 15_000 });
    await dialog.getByText("And the stone?").waitFor({ timeout: 15_000 });
    await stateOf(page, "speaking").waitFor();
    await page.keyboard.press("m");
    await dialog.getByRole("button", { name: "Switch the microphone on" }).waitFor();
    await dialog.getByRole("button", { name: "Stop the speech" }).click();
    await dialog.getByRole("status").getByText("Muted").waitFor();
    await dialog.getByRole("button", { name: "Hang up" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("And the stone?").first().waitFor();
    await close();
  },
  90_000,
);
