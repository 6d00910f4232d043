import type { EventEnvelope } from "#kernel/event-envelope.ts";
import type { Form } from "../tables.ts";

const discordLimit = 2000;
/** Longest text of the chat services that name no limit of their own. */
const textLimit = 30_000;

/** The form that an address takes; `auto` goes by the host (contract §9, event webhooks). */
export function toForm(form: Form, url: URL): Exclude<Form, "auto"> {
  if (form !== "auto") {
    return form;
  }
  const { hostname } = url;
  if (hostname === "hooks.slack.com") {
    return "slack";
  }
  if (hostname === "discord.com" || hostname === "discordapp.com") {
    return "discord";
  }
  if (hostname === "chat.googleapis.com") {
    return "google_chat";
  }
  const isTeams = [".webhook.office.com", ".logic.azure.com", ".powerplatform.com"].some((end) =>
    hostname.endsWith(end),
  );
  return isTeams ? "teams" : "raw";
}

/** The body of a post, as JSON text. */
export function toBody(envelope: EventEnvelope, form: Exclude<Form, "auto">): string {
  const { message } = envelope;
  switch (form) {
    case "slack":
    case "google_chat":
      return JSON.stringify({ text: message.slice(0, textLimit) });
    case "discord":
      // A text from the platform must not wake a whole server.
      return JSON.stringify({ content: message.slice(0, discordLimit), allowed_mentions: { parse: [] } });
    case "teams":
      return JSON.stringify(toTeamsCard(envelope));
    case "raw":
      return JSON.stringify(envelope);
  }
}

function toTeamsCard({ event, message }: EventEnvelope): object {
  const text = (words: string, more: object = {}) => ({
    type: "TextBlock",
    text: words,
    wrap: true,
    ...more,
  });
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [text(message.slice(0, textLimit), { weight: "Bolder" }), text(event, { isSubtle: true })],
        },
      },
    ],
  };
}
