import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

const tokenMark = "token:";
const shortestToken = 16;

/** The check of METRICS_ACCESS. Returns what is wrong, without the secret that may stand in it. */
export function checkReaders(entries: readonly string[]): string | undefined {
  for (const entry of entries) {
    if (entry.startsWith(tokenMark)) {
      if (entry.length < tokenMark.length + shortestToken) {
        return `must have at least ${shortestToken} characters behind token:`;
      }
    } else if (toNetwork(entry) === undefined) {
      return "must list addresses such as 10.0.0.5, networks such as 10.0.0.0/8, and token:<secret>";
    }
  }
  return undefined;
}

/** Decides who may read the metrics: a bearer of a token, or a peer whose address is listed. */
export function createReaders(entries: readonly string[]): (request: IncomingMessage) => boolean {
  const tokens = entries
    .filter((entry) => entry.startsWith(tokenMark))
    .map((entry) => digest(entry.slice(tokenMark.length)));
  const networks = entries.map(toNetwork).filter((network) => network !== undefined);
  return ({ headers, socket }) => {
    const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
    if (given !== undefined) {
      const asked = digest(given);
      return tokens.some((token) => timingSafeEqual(token, asked));
    }
    // Behind a proxy every request has the proxy's address, and a caller can write any other into a header.
    const isForwarded = forwardingHeaders.some((name) => headers[name] !== undefined);
    return !isForwarded && isInside(socket.remoteAddress ?? "", networks);
  };
}

const forwardingHeaders = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "forwarded",
  "via",
];

type Network = ReturnType<typeof ipaddr.parseCIDR>;

function toNetwork(entry: string): Network | undefined {
  const [address = "", bits] = entry.split("/");
  // Short forms of addresses are typing errors here.
  if (!address.includes(":") && !ipaddr.IPv4.isValidFourPartDecimal(address)) {
    return undefined;
  }
  try {
    return ipaddr.parseCIDR(bits === undefined ? `${entry}/${address.includes(":") ? 128 : 32}` : entry);
  } catch {
    return undefined;
  }
}

/** IPv4 peers of a listener for both kinds come as IPv6 addresses. */
function isInside(peer: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(peer)) {
    return false;
  }
  const address = ipaddr.process(peer);
  return networks.some((network) => network[0].kind() === address.kind() && address.match(network));
}

/** Of one length, whatever the token's. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
