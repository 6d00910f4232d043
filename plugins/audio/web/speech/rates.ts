/** Speeds that are offered. */
export const rates = [0.75, 1, 1.25, 1.5, 2] as const;

/** The speed after this one; after the fastest comes the slowest. */
export const nextRate = (rate: number): number => rates.find((one) => one > rate) ?? rates[0];
