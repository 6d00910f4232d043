import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";
import { switches } from "./switches.ts";

const page = "audio.settings";
const own = "audio.voice";

/** Settings of voice, for the search. */
export const settingEntries = (): readonly SettingEntry[] => [
  { page, title: t("Speech"), keywords: t("read aloud, voice, engine, openai, key") },
  { page, title: t("Dictation"), keywords: t("transcription, whisper, microphone, engine, key") },
  { page, title: t("Voice calls"), keywords: t("voice prompt") },
  { page: own, title: t("Speed"), keywords: t("read aloud") },
  { page: own, title: t("Speaking voice"), keywords: t("read aloud") },
  { page: own, title: t("Write down what I say"), keywords: t("microphone, dictation, browser, server") },
  { page: own, title: t("Language I speak"), keywords: t("dictation") },
  ...[...switches.speech(), ...switches.dictation(), ...switches.calls()].map(({ label, hint }) => ({
    page: own,
    title: label,
    keywords: hint,
  })),
];
