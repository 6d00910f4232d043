import { Server } from "node:net";

// Preloaded into servers of test packages that would listen on all interfaces: they get loopback alone. `listen` with a
// host is asynchronous, which those servers do not expect, so the step below it is changed.
const open = Server.prototype._listen2;
Server.prototype._listen2 = function openOnLoopback(address, port, ...rest) {
  const [type, ...others] = rest;
  return address === null && port >= 0
    ? open.call(this, "127.0.0.1", port, 4, ...others)
    : open.call(this, address, port, type, ...others);
};
