import { createRequire } from "node:module";
import type Outlook from "@kenjiuno/msgreader";
import PostalMime, { type Address } from "postal-mime";
import { decodeText } from "./decode.ts";
import { htmlToMarkdown } from "./html.ts";
import { isDamaged } from "./problem.ts";
import type { DocumentReader, Reading } from "./reading.ts";
import { readMembers } from "./members.ts";
import { rtfToText } from "./rtf.ts";

interface Mail {
  readonly headers: readonly (readonly [name: string, value: string | undefined])[];
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly {
    readonly name: string;
    readonly type: string;
    readonly bytes: Uint8Array;
  }[];
}

/** A message (RFC 5322): its main headers, its text, and the texts of its attachments. */
export const readEml: DocumentReader = async ({ bytes }, reading) => {
  const email = await PostalMime.parse(bytes, { maxNestingDepth: 50 });
  if (email.headers.length === 0) {
    throw isDamaged("The message");
  }
  await writeMail(
    {
      headers: [
        ["From", email.from && toName(email.from)],
        ["To", email.to?.map(toName).join(", ")],
        ["Cc", email.cc?.map(toName).join(", ")],
        ["Date", email.date],
        ["Subject", email.subject],
      ],
      text: email.text,
      html: email.html,
      attachments: email.attachments.map(({ filename, mimeType, content }, at) => ({
        name: filename ?? `attachment ${at + 1}`,
        type: mimeType,
        bytes: typeof content === "string" ? Buffer.from(content) : new Uint8Array(content),
      })),
    },
    reading,
  );
};

// The package is a CommonJS module with a default of its own, which loaders unwrap in different ways.
const { default: MsgReader } = createRequire(import.meta.url)("@kenjiuno/msgreader") as typeof Outlook;

/** A message of Outlook, as `readEml` reads others. */
export const readMsg: DocumentReader = async ({ bytes }, reading) => {
  const reader = new MsgReader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const message = reader.getFileData();
  if (message.error !== undefined) {
    throw isDamaged("The message");
  }
  const named = (kind: string) =>
    message.recipients
      ?.filter(({ recipType }) => recipType === kind)
      .map(({ name, smtpAddress, email }) => toPair(name, smtpAddress ?? email))
      .join(", ");
  const html = message.bodyHtml ?? (message.html && decodeText(message.html));
  const attachments = (message.attachments ?? []).filter(({ innerMsgContent }) => !innerMsgContent);
  await writeMail(
    {
      headers: [
        ["From", toPair(message.senderName, message.senderSmtpAddress ?? message.senderEmail)],
        ["To", named("to")],
        ["Cc", named("cc")],
        ["Date", message.messageDeliveryTime ?? message.clientSubmitTime],
        ["Subject", message.subject],
      ],
      text: message.body,
      html,
      attachments: attachments.map((attachment) => {
        const { fileName, content } = reader.getAttachment(attachment);
        return { name: fileName, type: "", bytes: content };
      }),
    },
    reading,
  );
};

async function writeMail(mail: Mail, reading: Reading): Promise<void> {
  const headers = mail.headers.filter(([, value]) => value);
  reading.builder.add(headers.map(([name, value]) => `${name}: ${value}\n`).join(""));
  const body = mail.text?.trim() ? mail.text : htmlToMarkdown(mail.html ?? "");
  reading.builder.add(
    `\n${body.startsWith("{\\rtf") ? rtfToText(Buffer.from(body, "latin1")) : body.trim()}\n`,
  );
  await readMembers(
    mail.attachments
      .filter(({ type }) => !type.startsWith("image/"))
      .map(({ bytes, ...facts }) => ({ ...facts, read: () => bytes })),
    reading,
  );
}

function toName(address: Address): string {
  return address.group
    ? `${address.name}: ${address.group.map(toName).join(", ")}`
    : toPair(address.name, address.address);
}

function toPair(name: string | undefined, address: string | undefined): string {
  return name && address && name !== address ? `${name} <${address}>` : (name ?? "") || (address ?? "");
}
