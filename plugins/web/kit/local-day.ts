const pad = (value: number) => String(value).padStart(2, "0");

/** `2026-03-01`: the day on the clock of this browser, which is not always the day in UTC. */
export const toLocalDay = (date: Date): string =>
  `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
