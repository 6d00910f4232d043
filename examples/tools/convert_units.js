/*
title: Convert units
description: Converts lengths, weights and temperatures, so that models need not reckon themselves
*/

const factors = {
  m: 1,
  km: 1000,
  mi: 1609.344,
  ft: 0.3048,
  kg: 1,
  g: 0.001,
  lb: 0.45359237,
  oz: 0.028349523125,
};
const lengths = new Set(["m", "km", "mi", "ft"]);
const kind = (unit) =>
  unit === "c" || unit === "f" ? "temperature" : lengths.has(unit) ? "length" : "weight";

// A function with a comment like this one can be called by models: the comment is what they read.
/**
 * Converts a quantity from one unit to another.
 *
 * @param {number} value - The quantity
 * @param {"m"|"km"|"mi"|"ft"|"kg"|"g"|"lb"|"oz"|"c"|"f"} from - Unit of the quantity
 * @param {"m"|"km"|"mi"|"ft"|"kg"|"g"|"lb"|"oz"|"c"|"f"} to - Unit to convert to
 * @param {number} [digits=4] - Significant digits
 * @title Convert units
 * @parallel
 */
export function convert_units(value, from, to, digits) {
  if (kind(from) !== kind(to)) {
    throw new Error(`${from} is a ${kind(from)} and ${to} a ${kind(to)}.`);
  }
  const base = from === "f" ? ((value - 32) * 5) / 9 : value * (factors[from] ?? 1);
  const result = to === "f" ? (base * 9) / 5 + 32 : base / (factors[to] ?? 1);
  return { value: Number(result.toPrecision(digits)), unit: to };
}
