import { hmacSha256 } from '#core/crypto.ts';
import { base64, hex, utf8 } from '#core/encoding.ts';
import { unixSeconds } from '#core/time.ts';

/** Outgoing signatures, both families from one function. Pure. */
type SignedPayload = 'timestamp.body' | 'body';

const PREFIX = 'whsec_';

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks writes secrets. */
export const newSecret = (): string => PREFIX + base64.encode(crypto.getRandomValues(new Uint8Array(32)));

/** Enough to tell secrets apart, not enough to guess one. */
export const secretHint = (secret: string): string => `${PREFIX}…${secret.slice(-4)}`;

export interface Signable {
  eventId: string;
  eventType: string;
  deliveryId: number;
  attempt: number;
  /** The exact body as it will be sent. */
  body: string;
  signedPayload: SignedPayload;
}

/**
 * The headers of an attempt. Every live secret signs, so that a rotation has no moment in which a consumer is wrong.
 * `X-Svc-Signature` follows Stripe (the HMAC key is the whole secret text), `webhook-signature` Standard Webhooks (its bytes).
 */
export function signatureHeaders(signable: Signable, secrets: readonly string[], now: number): Record<string, string> {
  const timestamp = unixSeconds(now);
  const payload = signable.signedPayload === 'body' ? signable.body : `${timestamp}.${signable.body}`;
  const ours = secrets.map((secret) => `v1=${hex.encode(hmacSha256(utf8(secret), utf8(payload)))}`);
  const standardPayload = utf8(`${signable.eventId}.${timestamp}.${signable.body}`);
  const standard = secrets.map((secret) => `v1,${base64.encode(hmacSha256(base64.decode(secret.slice(PREFIX.length)), standardPayload))}`);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'svc-webhooks/1',
    'X-Svc-Signature': [`t=${timestamp}`, ...ours].join(','),
    'X-Svc-Event-Id': signable.eventId,
    'X-Svc-Event-Type': signable.eventType,
    'X-Svc-Delivery-Id': String(signable.deliveryId),
    'X-Svc-Attempt': String(signable.attempt),
    'webhook-id': signable.eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  };
}
