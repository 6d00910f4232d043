import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { language } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";

/** The first of these that the browser can write. */
const types = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4", "audio/webm"];
const endings: Readonly<Record<string, string>> = { webm: "webm", ogg: "ogg", mp4: "m4a" };

/** A recording that goes on until it is finished. */
export interface Recording {
  /** Ends it; resolves to its sound. */
  finish(): Promise<Blob>;
  /** Ends it and keeps nothing. */
  drop(): void;
}

/** Begins to record. Throws where the browser cannot. */
export function record(stream: MediaStream): Recording {
  if (!("MediaRecorder" in globalThis)) {
    throw new Error(t("This browser cannot record."));
  }
  const mimeType = types.find((type) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(stream, { ...(mimeType && { mimeType }), audioBitsPerSecond: 48_000 });
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => void parts.push(data));
  recorder.start(1_000);
  const stop = () => {
    if (recorder.state !== "inactive") {
      recorder.stop();
    }
  };
  return {
    finish: () =>
      new Promise((resolve) => {
        const done = () => resolve(new Blob(parts, { type: recorder.mimeType }));
        if (recorder.state === "inactive") {
          done();
          return;
        }
        recorder.addEventListener("stop", done, { once: true });
        stop();
      }),
    drop: stop,
  };
}

/** Code of the language that is spoken, such as `de`. */
export const spokenLanguage = (): string =>
  new Intl.Locale(settings.get("dictationLanguage") || language.locale).language;

/** Has the server write a recording down (contract §10); resolves to the words, "" for silence. */
export async function transcribe(sound: Blob, signal: AbortSignal): Promise<string> {
  const ending = endings[/^audio\/(\w+)/.exec(sound.type)?.[1] ?? ""] ?? "webm";
  const body = new FormData();
  body.append("file", new File([sound], `recording.${ending}`, { type: sound.type }));
  // Without a choice the engine finds the language out, which it does better than the interface's setting.
  if (settings.get("dictationLanguage") !== "") {
    body.append("language", spokenLanguage());
  }
  const { text } = await server.call("POST /api/v1/audio/transcriptions", { body, signal });
  return text.trim();
}
