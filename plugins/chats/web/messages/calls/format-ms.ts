import { formatDuration, formatNumber } from "#plugins/web/kit/i18n/index.svelte.ts";

/** "2 ms" below a second, "1.3 s" from there on. */
export const formatMs = (ms: number): string =>
  ms < 1000
    ? formatNumber(Math.round(ms), { style: "unit", unit: "millisecond", unitDisplay: "narrow" })
    : formatDuration(ms / 1000);
