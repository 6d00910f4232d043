import { Encoder, PacketType } from "socket.io-parser";
import { toJson } from "#kernel/http/json.ts";

/** The JSON of a payload with the id of the process that emits it (Core API, events rule 3). */
export function toPayload(payload: object, instanceId: string): string {
  return toJson({ ...payload, instance_id: instanceId });
}

/** One event on its way to many sessions: each transport's bytes are made once, when its first session is met. */
export class OutgoingEvent {
  readonly event: string;
  /** The payload's JSON. */
  readonly json: string;
  #plain: Buffer | undefined;
  #socketIo: Buffer | undefined;

  constructor(event: string, json: string) {
    this.event = event;
    this.json = json;
  }

  /** A frame of the plain transport. */
  get plain(): Buffer {
    return (this.#plain ??= Buffer.from(toPlainFrame(this.event, this.json)));
  }

  /** An Engine.IO message that carries a Socket.IO event. */
  get socketIo(): Buffer {
    return (this.#socketIo ??= Buffer.from(toSocketIoFrame(this.event, this.json)));
  }
}

/** `id` names the answer that is expected. */
export function toPlainFrame(event: string, json: string, id?: number): string {
  const call = id === undefined ? "" : `"id":${id},`;
  return `{"type":"event",${call}"event":${JSON.stringify(event)},"data":${json}}`;
}

/** `id` numbers the answer that is expected. The payload is spliced in, because it is JSON already. */
export function toSocketIoFrame(event: string, json: string, id?: number): string {
  const head = { type: PacketType.EVENT, nsp: "/", data: [event, 0], ...(id !== undefined && { id }) };
  // Engine.IO's mark of a message, then the packet up to the placeholder.
  return `4${(encoder.encode(head)[0] as string).slice(0, -"0]".length)}${json}]`;
}

/** The acknowledgement of a client's event. */
export function toSocketIoAck(id: number, json: string): string {
  const head = { type: PacketType.ACK, nsp: "/", id, data: [0] };
  return `4${(encoder.encode(head)[0] as string).slice(0, -"0]".length)}${json}]`;
}

const encoder = new Encoder();
