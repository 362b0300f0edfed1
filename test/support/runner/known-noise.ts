import { stripVTControlCharacters } from 'node:util';

/** Messages that tests provoke or tools always print, each complete in one call. All others are shown, and `NOISE=1` shows these too. */
const KNOWN = [
  /^=+\nWARNING: @cloudflare\/vitest-pool-workers has been renamed to @cloudflare\/vitest-plugin\./,
  /^Sourcemap for "[^"]+" points to missing source files$/,
  // Receivers and nodes that refuse, reset or cut connections. workerd logs each, handled or not.
  /^uncaught exception; source = Uncaught \(in promise\); stack = Error: Network connection lost\.$/,
  /^uncaught exception; exception = workerd\S+: disconnected: jsg\.Error: Network connection lost\.\n/,
  /^exception = kj\/async-io\S*: disconnected: (?:connect\(\): Connection refused|::read\(fd, buffer, maxBytes\): Connection reset by peer|stream disconnected prematurely)/,
  // Idempotency keys in other alphabets are part of the contract.
  /^A header value for "Idempotency-Key" contains non-ASCII characters: "(?:schlüssel(?:-1)?|é+)"/,
  // Objects that a test kills, calls by a wrong name, or ends with its file.
  /^uncaught exception; exception = workerd\S+: failed: broken\.outputGateBroken; jsg\.Error: killed by the test/,
  /^uncaught exception; (?:source = Uncaught \(in promise\); stack = |exception = workerd\S+: failed: jsg\.)Error: this is the object of [\w:-]+, not of [\w:-]+/,
  /^(?:uncaught exception|Annotating with brokenness); .*\/test\/support\/runner\/worker\.ts changed, invalidating this Durable Object\./,
  /^failed to invoke drain\(\) on IncomingRequest before destroying it;/,
];

/** Host names that test machines cannot resolve. workerd logs each attempt three times, and its rejection twice. */
const UNKNOWN_HOST =
  /^e = kj\/async-io-unix\S*: failed: DNS lookup failed\.; params\.host = (?:shop\.example\.com|node\.example|api\.devnet\.solana\.com|api\.stripe\.com);/;
const OF_UNKNOWN_HOST =
  /^uncaught exception; (?:source = Uncaught \(in promise\); stack = |exception = workerd\S+: failed: jsg\.)Error: internal error; reference = \w+/;

let lookups = 0;

function isKnown(message: string): boolean {
  if (UNKNOWN_HOST.test(message)) return ++lookups > 0;
  // An internal error of workerd is shown unless a failed lookup is the cause.
  if (OF_UNKNOWN_HOST.test(message) && lookups > 0) return lookups-- > 0;
  return KNOWN.some((known) => known.test(message));
}

export function hideKnownNoise(): void {
  if (process.env.NOISE) return;
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = ((...args: unknown[]) => {
      const message = typeof args[0] === 'string' ? stripVTControlCharacters(args[0]).trim() : '';
      return isKnown(message) || write(...args);
    }) as typeof stream.write;
  }
}
