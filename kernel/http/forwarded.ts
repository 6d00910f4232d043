import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";

/** Who called and how, as seen behind the trusted proxies. */
export interface Client {
  readonly address: string;
  readonly protocol: "http" | "https";
  /** The host the client asked for, when the request named one. */
  readonly host: string | undefined;
  /** The peer is a proxy of FORWARDED_ALLOW_IPS. */
  readonly isProxied: boolean;
}

/** Finds the client of a request from the peer's address and the request's headers. */
export type ClientAddress = (remoteAddress: string, headers: IncomingHttpHeaders) => Client;

/**
 * Reads FORWARDED_ALLOW_IPS: "*" trusts every peer, otherwise a comma-separated list of addresses and CIDR ranges.
 * Throws when an entry is neither. Forwarding headers of peers that are not trusted are ignored.
 */
export function createClientAddress(allow: string): ClientAddress {
  const isTrusted = createTrust(allow);
  return (remoteAddress, headers) => {
    const peer = toAddress(remoteAddress) ?? remoteAddress;
    const isProxied = isTrusted(peer);
    const isForwarded =
      headers["x-forwarded-for"] !== undefined || headers["x-forwarded-proto"] !== undefined;
    if (!(isForwarded || headers["x-forwarded-host"] !== undefined) || !isProxied) {
      return { address: peer, protocol: "http", host: headers.host, isProxied };
    }
    const hops = toList(headers["x-forwarded-for"]);
    const position = findClient(hops, isTrusted);
    const protocols = toList(headers["x-forwarded-proto"]);
    // Proxies that append write both lists in step; a single value stands for the whole way.
    const protocol = protocols.length === hops.length ? protocols[position] : protocols[0];
    return {
      address: toAddress(hops[position] ?? "") ?? peer,
      protocol: /^(https|wss)$/i.test(protocol ?? "") ? "https" : "http",
      host: toList(headers["x-forwarded-host"])[0] ?? headers.host,
      isProxied,
    };
  };
}

type Trust = (address: string) => boolean;

function createTrust(allow: string): Trust {
  const entries = allow
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (entries.includes("*")) {
    return () => true;
  }
  const list = new BlockList();
  for (const entry of entries) {
    addEntry(list, entry);
  }
  // Asking the list costs more than the rest of the work, and the same few proxies come with every request.
  const known = new Map<string, boolean>();
  return (address) => {
    let trusted = known.get(address);
    if (trusted === undefined) {
      const family = isIP(address);
      trusted = family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
      if (known.size >= 1_000) {
        known.clear();
      }
      known.set(address, trusted);
    }
    return trusted;
  };
}

function addEntry(list: BlockList, entry: string): void {
  const [, address = "", bits] = /^([^/]*)(?:\/(.*))?$/.exec(entry) ?? [];
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  const isRange =
    bits !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === "ipv6" ? 128 : 32);
  if (isIP(address) === 0 || (bits !== undefined && !isRange)) {
    throw new Error(`FORWARDED_ALLOW_IPS: "${entry}" is neither an address nor a range such as 10.0.0.0/8`);
  }
  if (bits === undefined) {
    list.addAddress(
      toAddress(address) ?? address,
      isIP(toAddress(address) ?? address) === 6 ? "ipv6" : "ipv4",
    );
  } else {
    list.addSubnet(address, Number(bits), family);
  }
}

/**
 * The position of the client in X-Forwarded-For: coming from the right, the first hop that is no trusted proxy.
 * Everything left of it is what that client claims. When all are trusted it is the left-most readable one.
 */
function findClient(hops: readonly string[], isTrusted: Trust): number {
  let position = hops.length;
  for (let at = hops.length - 1; at >= 0; at -= 1) {
    const address = toAddress(hops[at]!);
    if (address === undefined) {
      continue;
    }
    position = at;
    if (!isTrusted(address)) {
      break;
    }
  }
  return position;
}

function toList(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** The bare address: without port and brackets, IPv4 out of its IPv6 form; undefined when it is none. */
function toAddress(text: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? undefined : address;
}
