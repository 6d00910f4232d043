import { isIP, type LookupFunction, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { buildConnector } from "undici";
import { isPublicAddress } from "./address.ts";
import { toAddressRefusal } from "./failure.ts";
import { onread, useSharedReadBuffer } from "./shared-read-buffer.ts";
import { openTls, requireFingerprint, type TlsSettings } from "./tls.ts";

export interface ConnectorOptions {
  /** True when only public addresses may be connected to. */
  readonly isChecked: boolean;
  readonly tls: TlsSettings;
  /** How names become addresses; `dns.lookup` outside tests. */
  readonly lookup: LookupFunction;
  readonly connectTimeoutMs: number;
  /** True where something other than the HTTP client reads the socket. */
  readonly isRaw?: boolean;
}

/**
 * Opens the sockets of one pool. Addresses are checked here and nowhere else, because only here it is known
 * which one is connected to: a name may resolve differently a moment later, and a literal is never resolved.
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  let opened: Promise<buildConnector.connector> | undefined;
  return (target, callback) => {
    const hostname = target.hostname.replace(/^\[|\]$/g, "");
    if (options.isChecked && isIP(hostname) !== 0 && !isPublicAddress(hostname)) {
      callback(toAddressRefusal(), null);
      return;
    }
    opened ??= openConnector(options);
    opened
      .then((connect) => connect(target, (...[error, socket]) => accept(options, error ?? socket, callback)))
      // A CA bundle that failed is read again for the next connection.
      .catch((error: Error) => {
        opened = undefined;
        callback(error, null);
      });
  };
}

async function openConnector(options: ConnectorOptions): Promise<buildConnector.connector> {
  return buildConnector({
    ...(await openTls(options.tls)),
    timeout: options.connectTimeoutMs,
    lookup: options.isChecked ? toCheckedLookup(options.lookup) : options.lookup,
    // A resumed session brings no certificate whose fingerprint could be compared.
    maxCachedSessions: options.tls.fingerprint === "" ? 100 : 0,
    allowH2: false,
    ...(!options.isRaw && { onread }),
  });
}

/** Refuses a name as soon as one of its addresses is private: mixing both is how rebinding is done. */
function toCheckedLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      const addresses = Array.isArray(found) ? found : [{ address: found, family: family ?? 4 }];
      if (error) {
        callback(error, "");
      } else if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
        callback(toAddressRefusal(), "");
      } else if (options.all) {
        callback(null, addresses);
      } else {
        callback(null, addresses[0]!.address, addresses[0]!.family);
      }
    });
  };
}

/** Looks at the connected socket itself before a byte of the request is written. */
function accept(
  { isChecked, tls, isRaw }: ConnectorOptions,
  socket: Socket | TLSSocket | Error,
  callback: buildConnector.Callback,
): void {
  if (socket instanceof Error) {
    callback(socket, null);
    return;
  }
  try {
    if (isChecked && !isPublicAddress(socket.remoteAddress ?? "")) {
      throw toAddressRefusal();
    }
    if (tls.fingerprint !== "" && "getPeerCertificate" in socket) {
      requireFingerprint(socket.getPeerCertificate(), tls.fingerprint);
    }
  } catch (error) {
    socket.destroy();
    callback(error as Error, null);
    return;
  }
  if (!isRaw) {
    useSharedReadBuffer(socket);
  }
  callback(null, socket);
}
