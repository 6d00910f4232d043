import { language, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";

// Browsers have it under two names, and type definitions under none.
interface Recognizer extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  start(): void;
  stop(): void;
  abort(): void;
}
interface Heard extends Event {
  readonly resultIndex: number;
  readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }> & { readonly isFinal: boolean }>;
}

const own = globalThis as unknown as Record<string, (new () => Recognizer) | undefined>;
const Recognition = () => own["SpeechRecognition"] ?? own["webkitSpeechRecognition"];

export type Listener = "browser" | "server";

/** The engine that writes speech down: the person's choice, else the instance's; undefined where neither can. */
export function chosenListener(): Listener | undefined {
  const engine = session.config?.audio?.stt.engine ?? "";
  const hasServer = engine !== "" && engine !== "web";
  const hasBrowser = Recognition() !== undefined;
  const wanted = settings.get("dictationEngine");
  if (wanted === "browser" && hasBrowser) {
    return "browser";
  }
  return hasServer ? "server" : hasBrowser ? "browser" : undefined;
}

/** The next step where nobody can. */
export const noListener = (): string =>
  session.isAdmin
    ? t(
        "This browser does not write speech down, and no engine is set up. Choose one in Administration › Voice.",
      )
    : t(
        "This browser does not write speech down, and the server has no engine for it. Ask an administrator for one.",
      );

export interface RecognitionEvents {
  /** Words since the last final ones; they may still change. */
  oninterim(text: string): void;
  /** Words that stay. */
  onfinal(text: string): void;
  onfail(reason: string): void;
}

/** The browser's own recognition, until `stop`; it is started again where the browser ends it after a silence. */
export function recognize(events: RecognitionEvents): { stop(): Promise<void>; abort(): void } {
  const Kind = Recognition();
  if (!Kind) {
    throw new Error(noListener());
  }
  const recognizer = new Kind();
  recognizer.continuous = true;
  recognizer.interimResults = true;
  recognizer.lang = settings.get("dictationLanguage") || language.locale;
  let isOver = false;
  let ended: (() => void) | undefined;
  recognizer.addEventListener("result", (event) => {
    const { results, resultIndex } = event as Heard;
    const heard = Array.from(results).slice(resultIndex);
    const textOf = (one: (typeof heard)[number]) => one[0]?.transcript.trim() ?? "";
    heard.filter(({ isFinal }) => isFinal).forEach((one) => events.onfinal(textOf(one)));
    events.oninterim(
      heard
        .filter(({ isFinal }) => !isFinal)
        .map(textOf)
        .join(" "),
    );
  });
  recognizer.addEventListener("error", (event) => {
    const { error } = event as Event & { readonly error: string };
    if (error !== "no-speech" && error !== "aborted") {
      isOver = true;
      events.onfail(toReason(error));
    }
  });
  recognizer.addEventListener("end", () => {
    if (isOver) {
      ended?.();
    } else {
      recognizer.start();
    }
  });
  recognizer.start();
  return {
    /** Resolves when the last words were told. */
    stop: () =>
      new Promise((resolve) => {
        isOver = true;
        ended = resolve;
        setTimeout(resolve, 3_000);
        recognizer.stop();
      }),
    abort() {
      isOver = true;
      recognizer.abort();
    },
  };
}

function toReason(error: string): string {
  const reasons: Readonly<Record<string, () => string>> = {
    "not-allowed": () =>
      t("The browser may not use the microphone. Allow it for this page beside its address."),
    "service-not-allowed": () => t("This browser does not let pages write speech down."),
    "audio-capture": () => t("There is no microphone on this device."),
    network: () => t("The browser’s own service that writes speech down could not be reached."),
    "language-not-supported": () => t("The browser does not write this language down."),
  };
  return reasons[error]?.() ?? t("The browser could not write it down: {reason}.", { reason: error });
}
