import { formatNumber } from "#plugins/web/kit/i18n/index.svelte.ts";

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
