import { formatDate, formatDuration, formatNumber, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { currencyOf, type By, type Measure, type Row } from "./report.ts";

/** A number of a measure, short enough for an axis. */
export function formatMeasure(value: number, measure: Measure): string {
  if (measure === "duration") {
    return formatDuration(value);
  }
  return measure === "tokens" || measure === "calls"
    ? formatNumber(value, { notation: "compact", maximumFractionDigits: 1 })
    : formatCost(value, currencyOf(measure));
}

/** An amount of money; currencies that are no codes of three letters stand behind it. */
export function formatCost(amount: number, currency: string): string {
  const digits = amount !== 0 && Math.abs(amount) < 1 ? 4 : 2;
  return /^[A-Z]{3}$/.test(currency)
    ? formatNumber(amount, { style: "currency", currency, maximumFractionDigits: digits })
    : `${formatNumber(amount, { maximumFractionDigits: digits })} ${currency}`;
}

/** What a row is called. */
export function toName({ key, name }: Row, by: By): string {
  if (by === "day" && key !== null) {
    return formatDate(Date.parse(key) / 1000, { timeZone: "UTC", dateStyle: "medium" });
  }
  return name ?? key ?? t("Accounts that are gone");
}
