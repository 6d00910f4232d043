// A plain proxy that pipes: the yardstick. It reads nothing, checks nothing and keeps its upstream connections.
import { Agent, createServer, request } from "node:http";

const upstream = Number(process.env.UPSTREAM_PORT);
const agent = new Agent({ keepAlive: true, maxSockets: 4096 });

createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const forwarded = request(
    { host: "127.0.0.1", port: upstream, path: url, method, headers, agent },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  forwarded.on("error", () => outgoing.destroy());
  outgoing.on("close", () => outgoing.writableFinished || forwarded.destroy());
  incoming.pipe(forwarded);
}).listen(Number(process.env.PORT), "127.0.0.1", 4096);
