import { formatNumber, t } from "#plugins/web/kit/i18n/index.svelte.ts";

/** Usage of a reply in words; none where the provider did not tell. */
export function usageTexts(usage: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const number = (...names: readonly string[]) =>
    names.map((name) => usage?.[name]).find((one): one is number => typeof one === "number");
  const read = number("prompt_tokens", "input_tokens", "prompt_eval_count");
  const written = number("completion_tokens", "output_tokens", "eval_count");
  const cost = number("cost");
  return [
    ...(read === undefined ? [] : [t("{count} tokens read", { count: formatNumber(read) })]),
    ...(written === undefined ? [] : [t("{count} tokens written", { count: formatNumber(written) })]),
    ...(cost === undefined
      ? []
      : [t("cost {cost}", { cost: formatNumber(cost, { maximumFractionDigits: 6 }) })]),
  ];
}
