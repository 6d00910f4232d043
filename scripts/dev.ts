import { createServer, type ProxyOptions } from "vite";
import { reservedSegments } from "#kernel/page.ts";
import { root } from "./tool.ts";

// `npm run dev`: the interface with hot reload, beside a server that runs already. It shows what is saved at once;
// everything that is no page goes on to that server, which SERVER names.
const target = process.env["SERVER"] ?? `http://127.0.0.1:${process.env["PORT"] ?? 8080}`;

try {
  await fetch(`${target}/health`);
} catch {
  console.error(
    `No server answers at ${target}. Run npm start in another terminal, or set SERVER to its address.`,
  );
  process.exit(1);
}

/** These come from the sources here, not from what the server has built. */
const own = new Set(["assets", "frames"]);
const proxied = [...reservedSegments].filter((segment) => !own.has(segment));
const options: ProxyOptions = { target, ws: true };
const server = await createServer({
  configFile: `${root}plugins/web/vite.config.ts`,
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: Object.fromEntries(
      proxied.map((segment) => [`^/${segment.replace(".", "\\.")}(?:[/?]|$)`, options]),
    ),
  },
});
await server.listen();
console.log(`The interface with hot reload, on the server at ${target}:`);
server.printUrls();
