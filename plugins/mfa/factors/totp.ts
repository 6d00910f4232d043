import { Secret, TOTP } from "otpauth";
import { renderSVG } from "uqr";

const period = 30;
const digits = 6;
/** Steps around the present one, for clocks that differ and people who type slowly (contract 1.2). */
const window = 1;
const secretBytes = 20;

/** Makes the secret of a new code app, in base32. */
export function createSecret(): string {
  return new Secret({ size: secretBytes }).base32;
}

export interface TotpLabel {
  /** Name of the installation. */
  readonly issuer: string;
  /** The account's address. */
  readonly account: string;
}

/** What an app reads the secret from: an `otpauth:` address as a QR code, an SVG in a data URI. */
export function toQrCode(secret: string, { issuer, account }: TotpLabel): string {
  const svg = renderSVG(toTotp(secret, { issuer, account }).toString(), {
    ecc: "M",
    border: 2,
    pixelSize: 4,
  });
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
}

/**
 * Step of a code that is right at `now` (epoch ms), later than `lastStep`; undefined for any other code. A code counts
 * once: the caller stores its step.
 */
export function findStep(
  secret: string,
  code: string,
  { lastStep, now = Date.now() }: { lastStep: number | null; now?: number },
): number | undefined {
  if (!/^\d{6}$/.test(code)) {
    return undefined;
  }
  const delta = toTotp(secret).validate({ token: code, timestamp: now, window });
  const step = delta === null ? undefined : Math.floor(now / 1000 / period) + delta;
  return step !== undefined && step > (lastStep ?? -1) ? step : undefined;
}

function toTotp(secret: string, label?: TotpLabel): TOTP {
  return new TOTP({
    ...(label && { issuer: label.issuer, label: label.account }),
    secret: Secret.fromBase32(secret),
    algorithm: "SHA1",
    digits,
    period,
  });
}
