import { describe, expect, it } from "vitest";
import { fillTemplate, type TemplateFacts } from "./template.ts";

const facts: TemplateFacts = {
  now: new Date("2026-03-29T23:30:00Z"),
  timeZone: "Europe/Berlin",
  user: {
    name: "Ana",
    email: "ana@example.test",
    bio: null,
    gender: "female",
    birthDate: "1990-03-30",
    location: null,
    groups: ["ops", "dev"],
  },
  variables: {
    "{{USER_LANGUAGE}}": "de-DE",
    "{{EVIL}}": "{{USER_EMAIL}}",
    "{{USER_NAME}}": "Ana from the client",
  },
  chatVariables: { tone: "warm", topics: ["a", "b"], empty: "" },
  userVariables: { city: "Bern" },
};

describe("template variables", () => {
  it.each([
    ["{{CURRENT_DATE}}", "2026-03-30"],
    ["{{CURRENT_TIME}}", "01:30:00"],
    ["{{CURRENT_DATETIME}}", "2026-03-30 01:30:00"],
    ["{{CURRENT_WEEKDAY}}", "Monday"],
    ["{{CURRENT_TIMEZONE}}", "Europe/Berlin"],
    ["{{ USER_EMAIL }}", "ana@example.test"],
    ["{{USER_BIO}}", "Unknown"],
    ["{{USER_GENDER}}", "female"],
    ["{{USER_AGE}}", "35"],
    ["{{USER_LOCATION}}", "Unknown"],
    ["{{USER_GROUPS}}", "ops, dev"],
    ["{{USER_LANGUAGE}}", "de-DE"],
    ["{{chat.variables.tone}}", "warm"],
    ['{{ chat.variables.tone | select:options=["warm","cold"]:default=cold }}', "warm"],
    ["{{chat.variables.topics}}", "a, b"],
    ["{{chat.variables.empty | text:default=calm:required}}", "calm"],
    ['{{chat.variables.missing | text:default="a: b"}}', "a: b"],
    ["{{chat.variables.missing}}", ""],
    ["{{user.variables.city}}", "Bern"],
    ["{{user.variables.none}}", ""],
    ["{{chat.variables.constructor}}", "{{chat.variables.constructor}}"],
    ["{{user.variables.toString}}", "{{user.variables.toString}}"],
    ["{{chat.variables.__proto__ | text:default=x}}", "{{chat.variables.__proto__ | text:default=x}}"],
    ["{{NOT_KNOWN}} and ${HOME}", "{{NOT_KNOWN}} and ${HOME}"],
  ])("%s becomes %s", (text, expected) => {
    expect(fillTemplate(text, facts)).toBe(expected);
  });

  it("lets what the caller sent win", () => {
    expect(fillTemplate("{{USER_NAME}}", facts)).toBe("Ana from the client");
  });

  it("does not read a filled-in value again", () => {
    expect(fillTemplate("{{EVIL}}", facts)).toBe("{{USER_EMAIL}}");
  });
});
