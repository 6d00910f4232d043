import ipaddr from "ipaddr.js";

/**
 * Whether an IP address in text form belongs to the public internet.
 * Private, local, reserved, metadata and unreadable addresses do not; an IPv4 address inside an IPv6 one counts.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) {
    return false;
  }
  const address = ipaddr.parse(text);
  return address instanceof ipaddr.IPv4 ? isPublicV4(address) : isPublicV6(address as ipaddr.IPv6);
}

/** Public by range, yet answered by the hosting platform itself: Azure's wire server with its credentials. */
const platformAddresses = new Set(["168.63.129.16"]);
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("64:ff9b::"), 96];

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === "unicast" && !platformAddresses.has(address.toString());
}

function isPublicV6(address: ipaddr.IPv6): boolean {
  // Behind DNS64 every IPv4-only site has such an address, so the IPv4 address inside decides.
  if (address.isIPv4MappedAddress() || address.match(nat64)) {
    return isPublicV4(embeddedV4(address));
  }
  // Everything outside 2000::/3 is local or unassigned; "unicast" alone would let ::7f00:1 through.
  if (!address.match(globalUnicast) || address.range() !== "unicast") {
    return false;
  }
  return !isIsatap(address) || isPublicV4(embeddedV4(address));
}

function embeddedV4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** An ISATAP interface identifier carries an IPv4 address that a tunnel on this host would deliver to. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;
}
