import { language, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Utterance, Voice, VoiceOptions } from "./voice.ts";

export const canSpeak = "speechSynthesis" in globalThis;

/** Browsers without a voice stay silent instead of failing. */
const patienceMs = 8_000;

/** The browser's voices; they are told late in some browsers. */
export async function browserVoices(): Promise<readonly SpeechSynthesisVoice[]> {
  if (!canSpeak) {
    return [];
  }
  const now = speechSynthesis.getVoices();
  if (now.length > 0) {
    return now;
  }
  await new Promise((resolve) => {
    speechSynthesis.addEventListener("voiceschanged", resolve, { once: true });
    setTimeout(resolve, 1_500);
  });
  return speechSynthesis.getVoices();
}

/** Speaks with a voice of the browser. */
export function createBrowserVoice({ rate: firstRate, voice: wanted }: VoiceOptions): Voice {
  let rate = firstRate;
  let isStopped = false;
  /** Ends the wait for an utterance that was cut off: not every browser tells. */
  let end: (() => void) | undefined;
  speechSynthesis.cancel();
  speechSynthesis.resume();

  const play = (text: string) =>
    new Promise<void>((resolve, reject) => {
      if (isStopped) {
        resolve();
        return;
      }
      const utterance = new SpeechSynthesisUtterance(text);
      utterance.rate = rate;
      utterance.lang = language.locale;
      const chosen = speechSynthesis.getVoices().find(({ voiceURI }) => voiceURI === wanted);
      if (chosen) {
        utterance.voice = chosen;
        utterance.lang = chosen.lang;
      }
      const timer = setTimeout(
        () => speechSynthesis.paused || fail(t("This browser has no voice that speaks.")),
        patienceMs,
      );
      const finish = () => {
        clearTimeout(timer);
        resolve();
      };
      const fail = (reason: string) => {
        clearTimeout(timer);
        reject(new Error(reason));
      };
      end = finish;
      utterance.addEventListener("start", () => clearTimeout(timer));
      utterance.addEventListener("end", finish);
      utterance.addEventListener("error", ({ error }) =>
        isStopped || error === "interrupted" || error === "canceled"
          ? finish()
          : fail(
              error === "not-allowed"
                ? t("The browser speaks only after a click on the page.")
                : t("The browser could not speak: {reason}.", { reason: error }),
            ),
      );
      speechSynthesis.speak(utterance);
    });

  return {
    prepare: (text): Utterance => ({ play: () => play(text) }),
    pause: () => speechSynthesis.pause(),
    resume: () => speechSynthesis.resume(),
    // What is being said goes on as it is: utterances take their speed with them.
    setRate: (next) => void (rate = next),
    stop() {
      isStopped = true;
      speechSynthesis.cancel();
      end?.();
    },
  };
}
