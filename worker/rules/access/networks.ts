interface Network {
  base: bigint;
  /** Bits of an address: 32 (IPv4) or 128 (IPv6). */
  bits: 32 | 128;
  prefix: number;
}

const DECIMAL = /^(?:0|[1-9]\d{0,2})$/;
const GROUP = /^[0-9a-f]{1,4}$/i;
const MAPPED = 0xffffn << 32n;

function parseIpv4(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => DECIMAL.test(part) && Number(part) < 256)) return null;
  return parts.reduce((address, part) => (address << 8n) | BigInt(part), 0n);
}

/** Reads the text forms of RFC 4291, 2.2. A zone is refused. */
function parseIpv6(text: string): bigint | null {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const embedded = dotted ? parseIpv4(dotted[2]!) : null;
  if (dotted && embedded === null) return null;
  const grouped = dotted ? `${dotted[1]}${(embedded! >> 16n).toString(16)}:${(embedded! & 0xffffn).toString(16)}` : text;
  const halves = grouped.split('::');
  if (halves.length > 2) return null;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail];
  if (!groups.every((group) => GROUP.test(group))) return null;
  return groups.reduce((address, group) => (address << 16n) | BigInt(`0x${group}`), 0n);
}

/** Parses an address. An IPv4 address mapped into IPv6 is the IPv4 address. */
function parseAddress(text: string): Network | null {
  const isIpv6 = text.includes(':');
  const base = isIpv6 ? parseIpv6(text) : parseIpv4(text);
  if (base === null) return null;
  if (isIpv6 && base >> 32n === MAPPED >> 32n) return { base: base - MAPPED, bits: 32, prefix: 32 };
  const bits = isIpv6 ? 128 : 32;
  return { base, bits, prefix: bits };
}

/**
 * Parses an address or a CIDR block (RFC 4632, RFC 4291). Null: neither, or a block of all addresses. Bits after the prefix are ignored.
 */
export function parseNetwork(text: string): Network | null {
  const [head = '', length, ...rest] = text.split('/');
  const address = parseAddress(head);
  if (!address || rest.length > 0) return null;
  if (length === undefined) return address;
  const isMapped = address.bits === 32 && head.includes(':');
  const prefix = DECIMAL.test(length) ? Number(length) - (isMapped ? 96 : 0) : 0;
  return prefix >= 1 && prefix <= address.bits ? { ...address, prefix } : null;
}

const contains = ({ base, bits, prefix }: Network, other: Network): boolean =>
  bits === other.bits && prefix <= other.prefix && base >> BigInt(bits - prefix) === other.base >> BigInt(bits - prefix);

/** True if the network or address is completely in one of the networks. */
export function isInNetworks(text: string, networks: readonly string[]): boolean {
  const asked = parseNetwork(text);
  return asked !== null && networks.some((network) => contains(parseNetwork(network)!, asked));
}

/** Bits of an address that one owner's connection shares: a /24, or the /48 of IPv6. */
const SHARED_BITS = { 32: 24, 128: 48 };

/** Network of an address as CIDR, with one spelling. A text that is no address is its own network. */
export function sharedNetworkOf(address: string): string {
  const parsed = parseAddress(address);
  if (!parsed) return address;
  const { base, bits } = parsed;
  const prefix = SHARED_BITS[bits];
  const [size, radix, sign] = bits === 32 ? [8, 10, '.'] : [16, 16, ':'];
  const parts = Array.from({ length: prefix / size }, (_, i) =>
    ((base >> BigInt(bits - size * (i + 1))) & ((1n << BigInt(size)) - 1n)).toString(radix),
  );
  return `${parts.join(sign)}${bits === 32 ? '.0' : '::'}/${prefix}`;
}
