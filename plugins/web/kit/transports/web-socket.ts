import type { OpenTransport } from "./transport.ts";

/** Some networks swallow WebSockets without a word. */
const longestOpeningMs = 5000;

/** Opens the plain WebSocket; browsers keep it alive themselves. */
export const openWebSocket: OpenTransport = ({ onframe, onclose, onkind }) => {
  const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`);
  let isOver = false;
  const end = (reason: string) => {
    clearTimeout(timer);
    if (!isOver) {
      isOver = true;
      socket.close();
      onclose(reason);
    }
  };
  const timer = setTimeout(() => end("The server did not answer in time."), longestOpeningMs);
  onkind("socket");
  socket.addEventListener("message", ({ data }) => {
    clearTimeout(timer);
    if (!isOver) {
      onframe(JSON.parse(String(data)));
    }
  });
  socket.addEventListener("close", ({ code }) => end(`The connection was closed (${code}).`));
  return {
    send: (frame) => socket.send(JSON.stringify(frame)),
    close() {
      isOver = true;
      clearTimeout(timer);
      socket.close();
    },
  };
};
