import { encodePacket } from "engine.io-parser";
import { Encoder, PacketType } from "socket.io-parser";
import { expect, it } from "vitest";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import {
  OutgoingEvent,
  toPayload,
  toPlainFrame,
  toSocketIoAck,
  toSocketIoFrame,
} from "../connections/outgoing.ts";

const payloads = [
  {},
  { text: 'quotes " and \\ and \n, ü, 🙂, \u2028' },
  { nested: { list: [1, null, true, "]"] } },
  { data: "0]" },
];

/** What the published codec makes of a packet. */
function encode(packet: { type: PacketType; id?: number; data: unknown }): string {
  const data = new Encoder().encode({ nsp: "/", ...packet })[0] as string;
  let encoded = "";
  encodePacket({ type: "message", data }, true, (text) => (encoded = String(text)));
  return encoded;
}

it.each(payloads)("a spliced Socket.IO event is what the codec writes: %j", (payload) => {
  const json = JSON.stringify(payload);
  const data = ["events:channel", payload];
  expect(toSocketIoFrame("events:channel", json)).toBe(encode({ type: PacketType.EVENT, data }));
  expect(toSocketIoFrame("events:channel", json, 12)).toBe(encode({ type: PacketType.EVENT, id: 12, data }));
  expect(toSocketIoAck(7, json)).toBe(encode({ type: PacketType.ACK, id: 7, data: [payload] }));
});

it.each(payloads)("a spliced plain frame is the JSON of its parts: %j", (payload) => {
  const json = JSON.stringify(payload);
  expect(JSON.parse(toPlainFrame('a"b', json))).toEqual({ type: "event", event: 'a"b', data: payload });
  expect(JSON.parse(toPlainFrame("e", json, 3))).toEqual({ type: "event", id: 3, event: "e", data: payload });
});

it("an envelope names its place, its order and the process it comes from", () => {
  const envelope = toEnvelope({ type: "status", data: 1 }, { chatId: "c", messageId: "m", seq: 4 });
  expect(JSON.parse(toPayload(envelope, "here"))).toEqual({
    chat_id: "c",
    message_id: "m",
    seq: 4,
    data: { type: "status", data: 1 },
    instance_id: "here",
  });
  expect(toEnvelope({ type: "x" })).toEqual({
    chat_id: null,
    message_id: null,
    seq: null,
    data: { type: "x" },
  });
});

it("bytes are made once a transport, whoever asks", () => {
  const event = new OutgoingEvent("events", "{}");
  expect(event.plain).toBe(event.plain);
  expect(event.socketIo).toBe(event.socketIo);
  expect(event.socketIo.toString()).toBe('42["events",{}]');
});
