// A plain loop over the sockets of `ws`: the cost of sending without rooms, credentials and a second protocol.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const everyMs = 5;
let seq = 0;

const server = createServer((incoming, outgoing) => {
  if (incoming.method === "POST") {
    setInterval(emit, everyMs);
  }
  outgoing.end("true");
});
const sockets = new WebSocketServer({ server, path: "/ws", perMessageDeflate: false });

function emit() {
  const data = { item_id: "item-1", kind: "text", content: "a few words of a reply " };
  const text = JSON.stringify({
    type: "event",
    event: "events",
    data: {
      chat_id: "chat-1",
      message_id: "message-1",
      seq: (seq += 1),
      data: { type: "chat:message:delta", data },
      instance_id: "b5f5a0a4-3c0c-4c3b-9f2e-3f7f6a3f8f11",
    },
  });
  for (const socket of sockets.clients) {
    socket.send(text);
  }
}

server.listen(Number(process.env.PORT), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
