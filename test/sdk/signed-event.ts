import { expect } from 'vitest';
import { newSecret, signatureHeaders } from '#features/webhooks/deliveries/signature.ts';
import { SvcError } from '../../sdk/src/index.ts';
import { type VerifyWebhookOptions, verifyWebhook } from '../../sdk/src/webhooks.ts';

export type Signed = Record<string, string>;

export const EVENT = {
  id: 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E',
  type: 'payment.confirmed',
  data: { object: { name: 'Ada’s weather ☂', amount: 1.5 } },
};
export const BODY = JSON.stringify(EVENT);
export const NOW = 1_790_000_000_000;
export const SECONDS = NOW / 1000;
export const [secret, other] = [newSecret(), newSecret()];

/** Signs with the service's own code. */
export const sign = (
  secrets: string[] = [secret],
  { body = BODY, now = NOW, signedPayload = 'timestamp.body' as 'timestamp.body' | 'body' } = {},
): Signed => signatureHeaders({ eventId: EVENT.id, eventType: EVENT.type, deliveryId: 7, attempt: 1, body, signedPayload }, secrets, now);
export const pick = (headers: Signed, ...names: string[]): Signed => Object.fromEntries(names.map((name) => [name, headers[name]!]));

export const verify = (
  body: string | Uint8Array | ArrayBuffer,
  headers: Parameters<typeof verifyWebhook>[1],
  options: VerifyWebhookOptions = {},
  key: string | string[] = secret,
) => verifyWebhook(body, headers, key, { now: NOW, ...options });

/** Reason and message of a refusal. Fails for an accepted delivery and for another error. */
export async function refusal(...call: Parameters<typeof verify>): Promise<{ reason: unknown; message: string }> {
  const error = await verify(...call).then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SvcError);
  const { code, meta, message, status, retryable } = error as SvcError;
  expect([code, status, retryable, Object.keys(meta)]).toEqual(['webhook_signature_failed', 0, false, ['reason']]);
  return { reason: meta.reason, message };
}
export const readReason = (...call: Parameters<typeof verify>): Promise<unknown> => refusal(...call).then(({ reason }) => reason);
