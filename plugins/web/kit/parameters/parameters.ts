import { t } from "../i18n/index.svelte.ts";
import type { Parameter } from "./parameter-values.ts";

/** What the common format takes, the often used first; unset ones are the model's or the instance's matter. */
export const parameters = (): readonly Parameter[] => [
  {
    name: "temperature",
    label: t("Temperature"),
    hint: t("Lower is steadier, higher is more varied."),
    min: 0,
    max: 2,
    step: 0.1,
  },
  {
    name: "top_p",
    label: t("Top P"),
    hint: t("Share of the likeliest words to choose from."),
    min: 0,
    max: 1,
    step: 0.05,
  },
  {
    name: "max_tokens",
    label: t("Longest reply"),
    hint: t("In tokens; the reply is cut there."),
    min: 1,
    step: 1,
  },
  {
    name: "reasoning_effort",
    label: t("Reasoning effort"),
    hint: t("How long a model thinks that can think."),
    kind: "choice",
    choices: ["minimal", "low", "medium", "high"],
  },
  {
    name: "frequency_penalty",
    label: t("Frequency penalty"),
    hint: t("Higher repeats words less often."),
    min: -2,
    max: 2,
    step: 0.1,
  },
  {
    name: "presence_penalty",
    label: t("Presence penalty"),
    hint: t("Higher turns to new subjects sooner."),
    min: -2,
    max: 2,
    step: 0.1,
  },
  { name: "seed", label: t("Seed"), hint: t("The same number tries for the same reply."), step: 1 },
  { name: "stop", label: t("Stop at"), hint: t("Texts that end the reply, one a line."), kind: "list" },
];
