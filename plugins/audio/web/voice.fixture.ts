import type { Page } from "playwright-core";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { openBrowser } from "#test/support/browser.ts";
import type { InterfaceSuite } from "#test/support/describe-interface.ts";
import type { OpenOptions, OpenPage } from "#test/support/interface.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { isSpeech, isTranscription, speaks, toneWav } from "../audio.fixture.ts";
import { makeMicrophone } from "../microphone.fixture.ts";

/** The platform with scripted engines, and a browser whose microphone plays a person who speaks. */
export interface VoiceStage {
  readonly world: AppWithUpstream;
  readonly engine: Upstream;
  readonly token: string;
  open(options?: Pick<OpenOptions, "size" | "theme" | "locale" | "path">): Promise<OpenPage>;
  /** Own settings of the account. */
  set(ui: Record<string, unknown>): Promise<void>;
  /** Texts that the engine was given to speak. */
  spoken(): string[];
  close(): Promise<void>;
}

export async function startVoiceStage(openPage: InterfaceSuite["openPage"]): Promise<VoiceStage> {
  const engine = await startUpstream();
  const world = await startAppWithUpstream({
    env: {
      AUDIO_TTS_ENGINE: "openai",
      AUDIO_TTS_OPENAI_API_BASE_URL: `${engine.origin}/v1`,
      AUDIO_TTS_OPENAI_API_KEY: "speech-key-0123",
      AUDIO_STT_ENGINE: "openai",
      AUDIO_STT_OPENAI_API_BASE_URL: `${engine.origin}/v1`,
      AUDIO_STT_OPENAI_API_KEY: "hear-key-0123",
    },
  });
  engine.always(isSpeech, speaks(toneWav(1, { rests: false }), "audio/wav"));
  engine.always(isTranscription, json({ text: "Hello there." }));
  const { token } = await world.app.admin();
  const microphone = makeMicrophone();
  const browser = await openBrowser(microphone.switches);
  return {
    world,
    engine,
    token,
    open: (options = {}) => openPage({ browser, url: world.app.url, token, ...options }),
    async set(ui) {
      await world.app.call("POST /api/v1/users/user/settings/update", { token, body: { ui } });
    },
    spoken: () =>
      engine.requests.filter(isSpeech).map(({ body }) => String((body as { input?: unknown }).input)),
    async close() {
      await browser.close();
      await world.close();
      await engine.close();
      microphone.remove();
    },
  };
}

/**
 * Puts a hand over the microphone of a page, which is lifted by `lift` and put back by `cover`: its person speaks again
 * and again, also over a reply that a test means to hear.
 */
export async function coverMicrophone(page: Page) {
  await page.evaluate(() => {
    const { mediaDevices } = navigator;
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (asked) => {
      const context = new AudioContext();
      const hand = context.createGain();
      hand.gain.value = 0;
      const heard = context.createMediaStreamDestination();
      context
        .createMediaStreamSource(await open(asked))
        .connect(hand)
        .connect(heard);
      Object.assign(globalThis, { hand });
      return heard.stream;
    };
  });
  const set = (loudness: number) =>
    page.evaluate((value) => {
      (globalThis as unknown as { hand: GainNode }).hand.gain.value = value;
    }, loudness);
  return { lift: () => set(1), cover: () => set(0) };
}
