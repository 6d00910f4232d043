import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Many WebSockets that only read. */
export interface Readers {
  /** Frames since the last call, over all sockets. */
  take(): number;
  close(): void;
}

interface Counter {
  frames: number;
  readonly onFrame: ((payload: Buffer) => void) | undefined;
}

/** Opens `count` sockets at /ws; `headers` each end with a line end. `onFrame` hears of each frame of every socket. */
export async function openReaders(
  port: number,
  headers: string,
  { count, onFrame }: { count: number; onFrame?: (payload: Buffer) => void },
): Promise<Readers> {
  const counter: Counter = { frames: 0, onFrame };
  const sockets = await Promise.all(Array.from({ length: count }, () => openReader(port, headers, counter)));
  return {
    take() {
      const { frames } = counter;
      counter.frames = 0;
      return frames;
    },
    close: () => sockets.forEach((socket) => socket.destroy()),
  };
}

async function openReader(port: number, headers: string, counter: Counter): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  const key = Buffer.alloc(16, 1).toString("base64");
  socket.write(
    `GET /ws HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n${headers}\r\n`,
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  const end = answer.indexOf("\r\n\r\n");
  if (!answer.toString("latin1", 0, 12).endsWith("101")) {
    throw new Error(`A socket was refused: ${answer.toString("latin1")}`);
  }
  let rest = answer.subarray(end + 4);
  const read = (piece: Buffer) => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (
      let length = lengthOf(rest);
      length !== undefined && length <= rest.length;
      length = lengthOf(rest)
    ) {
      counter.frames += 1;
      counter.onFrame?.(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
  read(Buffer.alloc(0));
  socket.on("data", read);
  return socket;
}

/** Whole length of the frame that `bytes` begin with; a server's frames are not masked, and these are short. */
function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < 4) {
    return undefined;
  }
  const short = bytes[1] ?? 0;
  return short < 126 ? 2 + short : 4 + bytes.readUInt16BE(2);
}
