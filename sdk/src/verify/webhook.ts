import { SvcError } from '../errors/svc-error.ts';
import { KNOWN_EVENTS, type SvcEvent } from '../generated/events.ts';

export interface VerifyWebhookOptions {
  /** Largest difference between the time of the signature and now, in both directions. Default 300. `Infinity` accepts any time. */
  toleranceSeconds?: number;
  /** `signed_payload` of the endpoint. Default `timestamp.body`. With `body`, `X-Svc-Signature` does not cover its own time. */
  signedPayload?: 'timestamp.body' | 'body';
  /** Current time as a Date or in milliseconds since 1970. Default: the clock. */
  now?: Date | number;
}

export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

type Reason = 'missing_header' | 'malformed_header' | 'stale' | 'mismatch' | 'not_json';

/** Signatures of one header family, and how to compute the expected one. */
interface Claim {
  timestamp: string;
  signatures: string[];
  prefix: string;
  toKey(secret: string): Uint8Array;
  encode(mac: number[]): string;
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const failure = (reason: Reason, message: string) => new SvcError('webhook_signature_failed', message, { meta: { reason } });

/**
 * Verifies a webhook delivery and returns its event. `X-Svc-Signature` and the `webhook-*` headers of Standard Webhooks must both hold. If a
 * `webhook-*` header or its version 1 is missing, `X-Svc-Signature` decides. Throws `webhook_signature_failed` with `meta.reason`.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, signedPayload, now }: VerifyWebhookOptions = {},
): Promise<SvcEvent> {
  const secrets = [secret].flat();
  if (secrets.length === 0 || secrets.some((one) => typeof one !== 'string' || one === ''))
    throw new TypeError('The webhook secret is empty. Pass the secret that the endpoint was created with.');
  const body = toBytes(rawBody);
  const claims = readClaims((name) => readHeader(headers, name), signedPayload === 'body');
  for (const claim of claims) {
    if (!(await isSigned(claim, body, secrets)))
      throw failure(
        'mismatch',
        'No signature matches the body and the secret. Pass the raw body as it was received. A body that was parsed and stringified again has other bytes.',
      );
  }
  const seconds = Math.floor(Number(now ?? Date.now()) / 1000);
  for (const { timestamp } of claims) {
    // Negated, so that NaN is refused too.
    if (!(Math.abs(seconds - Number(timestamp)) <= toleranceSeconds))
      throw failure(
        'stale',
        `The signature was made at ${timestamp}, more than ${toleranceSeconds} s from now (${seconds}). Check the clock of this server.`,
      );
  }
  return parseEvent(body);
}

/** True if this version of the package knows the type of the event. An event of an unknown type verifies too. */
export function isKnownEvent(event: SvcEvent): boolean;
export function isKnownEvent(event: { readonly type: string }): event is SvcEvent;
export function isKnownEvent(event: { readonly type: string }): boolean {
  return (KNOWN_EVENTS as readonly string[]).includes(event.type);
}

function toBytes(body: unknown): Uint8Array {
  if (typeof body === 'string') return utf8(body);
  // Not instanceof: test runners load code in another realm.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body as ArrayBuffer);
  throw failure('mismatch', 'The body is neither text nor bytes. Pass the raw body, before anything parses it.');
}

function readHeader(headers: WebhookHeaders, name: string): string {
  if (typeof headers?.get === 'function') return headers.get(name) ?? '';
  return Object.entries(headers ?? {})
    .flatMap(([key, value]) => (key.toLowerCase() === name && value !== undefined ? value : []))
    .join();
}

function readClaims(read: (name: string) => string, isBodyOnly: boolean): Claim[] {
  const [ours, standard] = [read('x-svc-signature'), read('webhook-signature')];
  const claims: Claim[] = [];
  if (ours) {
    const items = ours.split(',').map((item) => item.trim());
    const [timestamp, ...more] = valuesOf(items, 't=');
    const signatures = valuesOf(items, 'v1=');
    requireForm('X-Svc-Signature', more.length > 0 ? undefined : timestamp, signatures, 64);
    const encode = (mac: number[]) => mac.map((byte) => byte.toString(16).padStart(2, '0')).join('');
    claims.push({ timestamp: timestamp!, signatures, prefix: isBodyOnly ? '' : `${timestamp}.`, toKey: utf8, encode });
  }
  const [id, timestamp] = [read('webhook-id'), read('webhook-timestamp')];
  // A proxy may join two headers by a comma. A version begins an item, so the base64 after it has none.
  const signatures = [...standard.matchAll(/(?:^|[\s,])v1,([^\s,]*)/g)].map(([, signature]) => signature!);
  const isComplete = id !== '' && timestamp !== '' && signatures.length > 0;
  if (standard && (isComplete || !ours)) {
    if (!id || !timestamp)
      throw failure('missing_header', 'webhook-signature needs webhook-id and webhook-timestamp. Pass all headers of the request.');
    requireForm('webhook-signature', timestamp, signatures, 44);
    const encode = (mac: number[]) => btoa(String.fromCharCode(...mac));
    claims.push({ timestamp, signatures, prefix: `${id}.${timestamp}.`, toKey: decodeSecret, encode });
  }
  if (claims.length === 0)
    throw failure('missing_header', 'The headers have neither X-Svc-Signature nor webhook-signature. Pass the headers of the request.');
  return claims;
}

const valuesOf = (items: string[], name: string): string[] =>
  items.filter((item) => item.startsWith(name)).map((item) => item.slice(name.length));

function requireForm(header: string, timestamp: string | undefined, signatures: string[], length: number): asserts timestamp is string {
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp) || !signatures.length || signatures.some((one) => one.length !== length))
    throw failure('malformed_header', `${header} has not one time and v1 signatures of ${length} characters. Pass it unchanged.`);
}

/** Decodes the base64 of a Standard Webhooks secret. Returns no bytes for a secret of another form. */
function decodeSecret(secret: string): Uint8Array {
  try {
    return Uint8Array.from(atob(secret.replace('whsec_', '')), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

async function isSigned({ prefix, signatures, toKey, encode }: Claim, body: Uint8Array, secrets: readonly string[]): Promise<boolean> {
  const start = utf8(prefix);
  const payload = new Uint8Array(start.length + body.length);
  payload.set(start);
  payload.set(body, start.length);
  let matches = 0;
  for (const secret of secrets) {
    const bytes = new Uint8Array(toKey(secret));
    // An attacker can sign with an empty key too.
    if (bytes.length === 0) continue;
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const expected = encode([...new Uint8Array(await crypto.subtle.sign('HMAC', key, payload))]);
    for (const signature of signatures) matches += isEqual(signature, expected);
  }
  return matches > 0;
}

/** Compares two texts of one length in constant time. */
function isEqual(a: string, b: string): number {
  let difference = 0;
  for (let i = 0; i < b.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return Number(difference === 0);
}

function parseEvent(body: Uint8Array): SvcEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    // Refused below.
  }
  if (typeof (event as { type?: unknown } | null | undefined)?.type !== 'string')
    throw failure('not_json', 'The signature is valid, but the body is no event: a JSON object in UTF-8 with a type.');
  return event as SvcEvent;
}
