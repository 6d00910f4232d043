import { expect } from "vitest";
import type { App } from "#test/support/app.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into events of every kind.
export type Event = Record<string, any>;

/** A reply put together of its events, as clients of the format do it. */
export interface Read {
  readonly events: readonly Event[];
  // oxlint-disable-next-line typescript/no-explicit-any -- see above.
  readonly message: any;
  /** The event that ended a reply which broke. */
  readonly error: Event | undefined;
}

/** Reads a stream strictly: whatever a published client would lose, misplace or stumble over fails the test. */
export function readEvents(text: string): Read {
  expect(text.endsWith("\n\n")).toBe(true);
  const events = text.slice(0, -2).split("\n\n").map(parseFrame);
  let message: Event | undefined;
  let open: number | undefined;
  let isClosing = false;
  let end: "message_stop" | "error" | undefined;
  for (const event of events) {
    expect(end, `${event["type"]} behind the end`).toBeUndefined();
    switch (event["type"]) {
      case "message_start":
        expect(message).toBeUndefined();
        message = structuredClone(event["message"]) as Event;
        expect(message).toMatchObject({
          type: "message",
          role: "assistant",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { output_tokens: expect.any(Number) },
        });
        expect(["number", "undefined"]).toContain(typeof message["usage"].input_tokens);
        expect(message["id"]).toMatch(/^msg_\w+$/);
        break;
      case "ping":
        expect(message).toBeDefined();
        break;
      case "content_block_start":
        expect([open, isClosing, event["index"]]).toEqual([undefined, false, message?.["content"].length]);
        open = event["index"];
        if (event["content_block"].type === "tool_use") {
          expect(event["content_block"].id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        }
        message?.["content"].push({ ...event["content_block"], json: "" });
        break;
      case "content_block_delta":
        expect(event["index"]).toBe(open);
        addDelta(message?.["content"].at(-1), event["delta"]);
        break;
      case "content_block_stop":
        expect(event["index"]).toBe(open);
        open = undefined;
        close(message?.["content"].at(-1));
        break;
      case "message_delta":
        expect([open, isClosing]).toEqual([undefined, false]);
        isClosing = true;
        expect(event["usage"].output_tokens).toEqual(expect.any(Number));
        Object.assign(message as Event, event["delta"]);
        Object.assign(message?.["usage"], event["usage"]);
        break;
      case "message_stop":
        expect(isClosing).toBe(true);
        end = "message_stop";
        break;
      case "error":
        end = "error";
        break;
      default:
        expect.unreachable(`an event of the type ${event["type"]}`);
    }
  }
  expect(end).toBeDefined();
  return { events, message, error: end === "error" ? events.at(-1) : undefined };
}

/** Posts to the message API and reads what is streamed. */
export async function streamed(app: App, token: string, body: object): Promise<Read> {
  const answer = await app.call("POST /api/v1/messages", { token, body: { stream: true, ...body } });
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("message_start")]);
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  return readEvents(answer.text);
}

function parseFrame(frame: string): Event {
  const [name, data, ...rest] = frame.split("\n");
  expect(rest).toEqual([]);
  expect(name).toMatch(/^event: \w+$/);
  expect(data).toMatch(/^data: \{/);
  const event = JSON.parse((data as string).slice(6)) as Event;
  expect(event["type"]).toBe((name as string).slice(7));
  return event;
}

function addDelta(block: Event, delta: Event): void {
  const kinds: Record<string, string> = {
    text_delta: "text",
    thinking_delta: "thinking",
    signature_delta: "thinking",
    input_json_delta: "tool_use",
  };
  expect(kinds[delta["type"]]).toBe(block["type"]);
  if (delta["type"] === "signature_delta") {
    block["signature"] = delta["signature"];
  } else if (delta["type"] === "input_json_delta") {
    block["json"] += delta["partial_json"];
  } else {
    block[block["type"]] += delta[block["type"]];
  }
}

function close(block: Event): void {
  if (block["json"] !== "") {
    block["input"] = JSON.parse(block["json"]);
  }
  delete block["json"];
}
