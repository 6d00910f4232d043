import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

/** A variable as the page names it. */
export interface FieldWords {
  readonly label: string;
  readonly hint?: string;
  readonly isLong?: boolean;
}

/** Labels and hints of the fields of engines, by what their names end with; others keep their names. */
export function wordsOf(name: string): FieldWords {
  const words: readonly (readonly [RegExp, () => FieldWords])[] = [
    [
      /OPENAI_API_BASE_URL$/,
      () => ({
        label: t("Address"),
        hint: t("Such as https://api.openai.com/v1, or that of a compatible server of your own."),
      }),
    ],
    [/(_URL|_ENDPOINT)$/, () => ({ label: t("Address") })],
    [/_USE_CHAT_COMPLETIONS$/, () => ({ label: t("Ask a chat model that hears") })],
    [/_API_KEY$/, () => ({ label: t("Key") })],
    [/_REGION$/, () => ({ label: t("Region"), hint: t("Such as westeurope.") })],
    [/_OUTPUT_FORMAT$/, () => ({ label: t("Format of the sound") })],
    [/_LOCALES$/, () => ({ label: t("Languages"), hint: t("Such as de-DE, separated by commas.") })],
    [/_MAX_SPEAKERS$/, () => ({ label: t("Speakers at most") })],
    [
      /_PARAMS$/,
      () => ({ label: t("Further fields"), hint: t("A JSON object, sent with each request."), isLong: true }),
    ],
  ];
  return words.find(([ending]) => ending.test(name))?.[1]() ?? { label: name };
}
