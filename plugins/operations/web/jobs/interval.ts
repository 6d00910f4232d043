import { formatNumber, t } from "#plugins/web/kit/i18n/index.svelte.ts";

const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** A span in the largest unit that it fills: "1 day", "15 minutes", "45 seconds". */
export function formatInterval(seconds: number): string {
  const [unit, size] = units.find(([, one]) => seconds >= one) ?? ["second", 1];
  return formatNumber(seconds / size, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 });
}

/** How often something happens: "hourly", "every 15 minutes". */
export function formatRhythm(seconds: number): string {
  switch (seconds) {
    case 86_400:
      return t("daily");
    case 3600:
      return t("hourly");
    case 60:
      return t("every minute");
    default:
      return t("every {time}", { time: formatInterval(seconds) });
  }
}
