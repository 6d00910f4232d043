import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { Utterance, Voice, VoiceOptions } from "./voice.ts";

/** One for all: where browsers want a gesture before sound, the element that had one keeps the right to play. */
let player: HTMLAudioElement | undefined;

/** Speaks with the engine of the instance (`POST /api/v1/audio/speech`, contract §10). */
export function createEngineVoice({ rate, voice }: VoiceOptions): Voice {
  const audio = (player ??= new Audio());
  const left = new AbortController();
  const { signal } = left;
  let speed = rate;

  async function load(text: string): Promise<Blob> {
    const response = await server.open("POST /api/v1/audio/speech", {
      body: { input: text, ...(voice !== "" && { voice }) },
      signal,
    });
    if (!response.ok) {
      throw new ApiError(response.status, await response.json().catch(() => undefined));
    }
    return await response.blob();
  }

  async function play(loading: Promise<Blob>): Promise<void> {
    try {
      const address = URL.createObjectURL(await loading);
      try {
        await toEnd(audio, { address, speed: () => speed, signal });
      } finally {
        URL.revokeObjectURL(address);
      }
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
  }

  return {
    prepare(text): Utterance {
      const loading = load(text);
      // Its failure is told when its turn comes.
      loading.catch(() => undefined);
      return { play: () => play(loading) };
    },
    pause: () => audio.pause(),
    resume: () => void audio.play().catch(() => undefined),
    setRate(next) {
      speed = next;
      audio.playbackRate = next;
    },
    stop() {
      left.abort();
      audio.pause();
    },
  };
}

interface Played {
  readonly address: string;
  readonly signal: AbortSignal;
  speed(): number;
}

/** Resolves when the sound ended, or the signal tells to stop. */
function toEnd(audio: HTMLAudioElement, { address, speed, signal }: Played): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const over = new AbortController();
    const listen = { signal: over.signal };
    const finish = (then: () => void) => () => {
      over.abort();
      then();
    };
    const broken = () => reject(new Error(t("This browser cannot play the sound of the engine.")));
    audio.addEventListener("ended", finish(resolve), listen);
    audio.addEventListener("error", finish(broken), listen);
    signal.addEventListener("abort", finish(resolve), listen);
    audio.src = address;
    audio.defaultPlaybackRate = speed();
    audio.playbackRate = speed();
    audio.play().catch((error: Error) => {
      if (error.name === "NotAllowedError") {
        finish(() => reject(new Error(t("The browser speaks only after a click on the page."))))();
      } else if (error.name !== "AbortError") {
        finish(broken)();
      }
    });
  });
}
