import { findJsonMistake } from "./json-mistake.ts";
import type { Setting } from "./setting.ts";

export type Control = "switch" | "number" | "choice" | "line" | "lines" | "list" | "json";

const longNames = /(?:_TEMPLATE|_PROMPT|_CONTENT|_DESCRIPTION)$/;

/** The control that fits a setting's declaration. */
export function toControl({ kind, name, value, default: initial }: Setting): Control {
  switch (kind) {
    case "bool":
      return "switch";
    case "int":
    case "number":
      return "number";
    case "oneOf":
      return "choice";
    case "list":
      return "list";
    case "json":
      return "json";
    default: {
      const isLong = [value, initial].some((text) => typeof text === "string" && /\n|.{80}/.test(text));
      return isLong || longNames.test(name) ? "lines" : "line";
    }
  }
}

/** The content of a setting's control before anything is changed. Secrets are written only. */
export function toRaw(setting: Setting): string | boolean {
  const { value, secret } = setting;
  const control = toControl(setting);
  if (control === "switch") {
    return value === true;
  }
  if (secret || value === null || value === undefined) {
    return "";
  }
  if (control === "json") {
    return JSON.stringify(value, null, 2);
  }
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** A `problem` is a word of `toWords`, or line and column of a JSON text's first mistake as in `3:14`. */
export type Read = { readonly value: unknown } | { readonly problem: string };

/** The value that a control's content stands for, or what keeps it from being one. */
export function readRaw(setting: Setting, raw: string | boolean): Read {
  if (typeof raw === "boolean") {
    return { value: raw };
  }
  switch (toControl(setting)) {
    case "number":
      return readNumber(setting, raw.trim());
    case "list":
      return { value: toLines(raw) };
    case "json":
      return readJson(raw);
    default:
      return { value: raw === "" && setting.default === null ? null : raw };
  }
}

function readNumber({ min, max, kind }: Setting, raw: string): Read {
  const number = Number(raw);
  // The server knows what an empty field means.
  if (raw === "") {
    return { value: "" };
  }
  if (!Number.isFinite(number) || (kind === "int" && !Number.isInteger(number))) {
    return { problem: kind === "int" ? "whole" : "number" };
  }
  if ((min !== null && number < min) || (max !== null && number > max)) {
    return { problem: "bounds" };
  }
  return { value: number };
}

function toLines(raw: string): string[] {
  return raw
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function readJson(raw: string): Read {
  try {
    return { value: raw.trim() === "" ? null : JSON.parse(raw) };
  } catch {
    const before = raw.slice(0, findJsonMistake(raw)).split("\n");
    return { problem: `${before.length}:${(before.at(-1) ?? "").length + 1}` };
  }
}
