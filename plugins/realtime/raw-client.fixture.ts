import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A client of /ws that reads only when it is told to. */
export interface RawClient {
  readonly socket: Socket;
  /** Sends frames, all in one piece. */
  send(...frames: object[]): void;
}

/** Connects to /ws with a token; nothing is read until the socket is resumed. */
export async function connectRaw(url: string, token: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(
    `GET /ws HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16, 1).toString("base64")}\r\n` +
      `authorization: Bearer ${token}\r\n\r\n`,
  );
  await once(socket, "data");
  socket.pause();
  return { socket, send: (...frames) => void socket.write(Buffer.concat(frames.map(toFrame))) };
}

/** A masked text frame; the mask is zero, so that the text stays as it is. */
function toFrame(frame: object): Buffer {
  const payload = Buffer.from(JSON.stringify(frame));
  const head = Buffer.alloc(8);
  head[0] = 0x81;
  head[1] = 0x80 | 126;
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
