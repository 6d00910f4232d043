// A server that answers one prebuilt JSON text on every path: the cost of `node:http` alone.
import { createServer } from "node:http";

const body = process.env.BODY ?? "{}";

createServer((_, outgoing) => {
  outgoing.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}).listen(Number(process.env.PORT), "127.0.0.1", 4096);
