import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type IPty, spawn } from "@lydell/node-pty";
import { type WebSocket, WebSocketServer } from "ws";
import { type Answer, Refusal } from "./files.ts";

interface Shell {
  readonly pty: IPty;
  readonly userId: string;
  readonly chatId: string;
  isConnected: boolean;
}

/** Sessions on pseudo terminals; one ends with its connection, as on the published server. */
export function createShells({ key, home }: { readonly key: string; readonly home: string }) {
  const shells = new Map<string, Shell>();
  const server = new WebSocketServer({ noServer: true });
  const end = (id: string) => {
    shells.get(id)?.pty.kill();
    shells.delete(id);
  };

  function create(request: IncomingMessage): Answer {
    const id = randomUUID().slice(0, 8);
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, TERM: "xterm-256color", PS1: "$ ", ENV: "" };
    const pty = spawn("/bin/sh", [], { name: "xterm-256color", cols: 80, rows: 24, cwd: home, env });
    const { "x-user-id": userId, "x-session-id": chatId } = request.headers;
    shells.set(id, { pty, userId: String(userId ?? ""), chatId: String(chatId ?? ""), isConnected: false });
    return { json: { id, created_at: new Date().toISOString(), pid: pty.pid } };
  }

  function talk(socket: WebSocket, id: string): void {
    const shell = shells.get(id);
    socket.once("message", (data) => {
      const { type, token } = JSON.parse(String(data)) as Record<string, unknown>;
      if (type !== "auth" || token !== key) {
        socket.close(4001, "Invalid API key");
        return;
      }
      if (shell === undefined || shell.isConnected) {
        socket.close(4004, "Session not found");
        return;
      }
      shell.isConnected = true;
      const reading = shell.pty.onData((text) => socket.send(Buffer.from(text)));
      shell.pty.onExit(() => socket.close(1000));
      socket.on("close", () => {
        reading.dispose();
        end(id);
      });
      socket.on("message", (frame, isBinary) => {
        if (isBinary) {
          shell.pty.write(String(frame));
          return;
        }
        const { cols, rows } = JSON.parse(String(frame)) as { cols: number; rows: number };
        shell.pty.resize(cols, rows);
      });
    });
  }

  return {
    count: () => shells.size,
    serve(request: IncomingMessage, pathname: string): Answer {
      const id = pathname.split("/")[3];
      if (id === undefined) {
        // Those of all people: a server that leaves the separation to the platform.
        return request.method === "POST"
          ? create(request)
          : { json: [...shells.keys()].map((one) => ({ id: one })) };
      }
      if (!shells.has(id)) {
        throw new Refusal(404, "Session not found");
      }
      if (request.method === "DELETE") {
        end(id);
      }
      return { json: { id } };
    },
    attach(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      const id = (request.url ?? "").split("/").at(-1) ?? "";
      server.handleUpgrade(request, socket, head, (ws) => talk(ws, id));
    },
    close: () => [...shells.keys()].forEach(end),
  };
}
