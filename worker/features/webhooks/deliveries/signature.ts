import { hmacSha256 } from '#core/crypto.ts';
import { base64, hex, utf8 } from '#core/encoding.ts';
import { unixSeconds } from '#core/time.ts';

type SignedPayload = 'timestamp.body' | 'body';

const PREFIX = 'whsec_';

/** Generates a secret in Standard Webhooks format: `whsec_` and 32 random bytes in base64. */
export const newSecret = (): string => PREFIX + base64.encode(crypto.getRandomValues(new Uint8Array(32)));

export const secretHint = (secret: string): string => `${PREFIX}…${secret.slice(-4)}`;

export interface Signable {
  eventId: string;
  eventType: string;
  deliveryId: number;
  attempt: number;
  body: string;
  signedPayload: SignedPayload;
}

/**
 * Returns the signature headers of an attempt. Every live secret signs, so that consumers verify at any time of a rotation.
 * `X-Svc-Signature` follows Stripe (key: the secret text), `webhook-signature` follows Standard Webhooks (key: the decoded bytes).
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
