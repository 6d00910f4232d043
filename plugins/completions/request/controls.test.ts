import { describe, expect, it } from "vitest";
import { withControls } from "./controls.ts";

const tone = {
  id: "tone",
  label: "Tone",
  default: "plain",
  options: [
    { id: "plain", label: "Plain" },
    { id: "warm", label: "Warm", params: { temperature: 0.9 }, system: "Be warm." },
    { id: "wild", label: "Wild", params: { temperature: 1.5, custom_params: { top_a: 1 } } },
  ],
};
const length = {
  id: "length",
  label: "Length",
  default: "short",
  options: [
    { id: "short", label: "Short", params: { max_tokens: 50 }, system: "Be brief." },
    { id: "long", label: "Long", params: { max_tokens: 5000, temperature: null } },
  ],
};
const saved = { temperature: 0.2, system: "You are Ada.", custom_params: { seed: 1 } };
const picks = (own: object) => ({ ada: own, other: { tone: "wild" } });

describe("the parameters a request runs with", () => {
  it.each([
    [
      "defaults without picks",
      undefined,
      true,
      { temperature: 0.2, max_tokens: 50, system: "You are Ada.\n\nBe brief." },
    ],
    [
      "a pick over the default and over what is saved",
      picks({ tone: "warm" }),
      true,
      { temperature: 0.9, max_tokens: 50, system: "You are Ada.\n\nBe warm.\n\nBe brief." },
    ],
    [
      "custom parameters merged by entry",
      picks({ tone: "wild", length: "long" }),
      true,
      { temperature: 1.5, max_tokens: 5000, system: "You are Ada.", custom_params: { seed: 1, top_a: 1 } },
    ],
    [
      "defaults for those who may not pick",
      picks({ tone: "warm" }),
      false,
      { temperature: 0.2, max_tokens: 50, system: "You are Ada.\n\nBe brief." },
    ],
    [
      "defaults for those who may not pick and name a gone option",
      picks({ tone: "gone" }),
      false,
      { temperature: 0.2, max_tokens: 50 },
    ],
    ["a pick for a gone control ignored", picks({ mood: "x" }), true, { temperature: 0.2, max_tokens: 50 }],
    ["a pick of null as none", picks({ length: null }), true, { max_tokens: 50 }],
    ["another model's picks ignored", { other: { tone: "wild" } }, true, { temperature: 0.2 }],
    ["picks of no shape ignored", "tone", true, { temperature: 0.2, max_tokens: 50 }],
  ])("%s", (_name, picked, mayPick, expected) => {
    const model = { id: "ada", params: { ...saved, model_controls: [tone, length] } };
    expect(withControls(model, { picked, mayPick }).params).toMatchObject(expected);
    expect(model.params.system).toBe("You are Ada.");
  });

  it.each([["gone"], [7], [{ id: "warm" }]])(
    "refuse the option %j that a control does not have",
    (option) => {
      const model = { id: "ada", params: { model_controls: [tone] } };
      expect(() => withControls(model, { picked: { ada: { tone: option } }, mayPick: true })).toThrow(
        /^The control "Tone" \(tone\) has no option ".*" any more\.$/,
      );
    },
  );

  it.each([
    ["no controls", undefined],
    ["controls that are no list", { tone }],
    ["a default that names nothing", [{ ...tone, default: "gone" }]],
  ])("stay as they are with %s", (_name, controls) => {
    const model = { id: "ada", params: { ...saved, model_controls: controls } };
    expect(withControls(model, { picked: undefined, mayPick: true })).toBe(model);
  });
});
