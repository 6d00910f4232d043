import { expect, it } from "vitest";
import type { EventEnvelope } from "#kernel/event-envelope.ts";
import { toBody, toForm } from "./forms.ts";

const envelope: EventEnvelope = {
  schema: "event.v1",
  id: "e1",
  event: "auth.signup",
  resource: "auth",
  operation: "signup",
  created_at: 1,
  instance_id: "i",
  version: "1",
  source: "Millrace",
  actor: null,
  subject: null,
  data: null,
  message: "m".repeat(3000),
};

it.each([
  ["https://hooks.slack.com/services/x", "slack"],
  ["https://discord.com/api/webhooks/x", "discord"],
  ["https://chat.googleapis.com/v1/spaces/x", "google_chat"],
  ["https://mill.webhook.office.com/x", "teams"],
  ["https://prod-1.westeurope.logic.azure.com/x", "teams"],
  ["https://hooks.slack.com.example.org/x", "raw"],
  ["https://example.org/discord.com", "raw"],
])("tells the form of %s", (url, form) => {
  expect(toForm("auto", new URL(url))).toBe(form);
  expect(toForm("raw", new URL(url))).toBe("raw");
});

it("writes each form", () => {
  const body = (form: Parameters<typeof toBody>[1]) => JSON.parse(toBody(envelope, form));
  expect(body("slack")).toEqual({ text: envelope.message });
  expect(body("google_chat")).toEqual({ text: envelope.message });
  expect(body("discord").content).toHaveLength(2000);
  expect(body("teams").attachments[0].content.body[0].text).toBe(envelope.message);
  expect(body("raw")).toEqual(envelope);
});
