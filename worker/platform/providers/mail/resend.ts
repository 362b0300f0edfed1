import { z } from 'zod';
import { equalBytes, hmacSha256 } from '#core/crypto.ts';
import { base64, base64Bytes, utf8 } from '#core/encoding.ts';
import { SECOND } from '#core/time.ts';
import type { Bounce, MailOutcome, MailProvider } from './mail-provider.ts';

/** Resend HTTP API: `POST /emails`, and webhooks signed by Svix. */
const TIMEOUT_MS = 15 * SECOND;
const TOLERANCE_SECONDS = 300;
const Sent = z.object({ id: z.string() });
const Refusal = z.object({ name: z.string() });
const Notice = z.object({
  type: z.string(),
  data: z.object({ to: z.array(z.string()), bounce: z.object({ type: z.string() }).optional() }).optional(),
});

export const resend: MailProvider = {
  needs: ['RESEND_API_KEY'],
  // Default limit per team in Resend's documentation.
  perSecond: 5,
  async send({ config, leftMs }, { id, from, to, subject, html, text }): Promise<MailOutcome> {
    try {
      const response = await fetch(`${config.RESEND_API_URL.replace(/\/$/, '')}/emails`, {
        method: 'POST',
        headers: { authorization: `Bearer ${config.RESEND_API_KEY}`, 'content-type': 'application/json', 'idempotency-key': id },
        body: JSON.stringify({ from, to: [to], subject, html, text }),
        redirect: 'manual',
        signal: AbortSignal.timeout(Math.min(TIMEOUT_MS, leftMs())),
      });
      const answer: unknown = await response.json().catch(() => null);
      return response.ok ? sentAs(answer) : refusedAs(response, answer);
    } catch (error) {
      return { kind: 'later', reason: error instanceof Error ? error.name : 'unknown' };
    }
  },
  bounces: {
    secret: 'RESEND_WEBHOOK_SECRET',
    read: ({ config }, headers, body, now) => (isSigned(config.RESEND_WEBHOOK_SECRET, headers, body, now) ? bouncesIn(body) : null),
  },
};

/** Counts as sent even if the answer is malformed, because Resend ignores a repeated id. */
function sentAs(answer: unknown): MailOutcome {
  const sent = Sent.safeParse(answer);
  return { kind: 'sent', providerId: sent.success ? sent.data.id : null };
}

function refusedAs(response: Response, answer: unknown): MailOutcome {
  const refusal = Refusal.safeParse(answer);
  const reason = refusal.success ? `${response.status} ${refusal.data.name.slice(0, 60)}` : `HTTP ${response.status}`;
  // An earlier attempt with this id was accepted, and the text has changed since because the recipient's language did.
  if (response.status === 409 && reason.endsWith('invalid_idempotent_request')) return { kind: 'sent', providerId: null };
  if (response.status === 400 || response.status === 422) return { kind: 'refused', reason, isBounced: false };
  const seconds = Number(response.headers.get('retry-after'));
  const kind = response.status === 429 ? 'busy' : 'later';
  return { kind, reason, ...(Number.isFinite(seconds) && seconds > 0 ? { afterSeconds: seconds } : {}) };
}

/** Verifies HMAC-SHA256 over `id.timestamp.body` against the `svix-signature` list, with a tolerance of five minutes. */
function isSigned(secret: string | undefined, headers: Headers, body: Uint8Array, now: number): boolean {
  const [id, timestamp, signatures] = ['svix-id', 'svix-timestamp', 'svix-signature'].map((name) => headers.get(name));
  if (!secret || !id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / SECOND - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const head = utf8(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  const expected = hmacSha256(base64.decode(secret.replace(/^whsec_/, '')), signed);
  return signatures.split(' ').some((part) => {
    const [version, text = ''] = part.split(',');
    if (version !== 'v1') return false;
    const shown = base64Bytes(text);
    return shown !== null && equalBytes(shown, expected);
  });
}

const REASONS: Record<string, Bounce['reason']> = { 'email.bounced': 'bounced', 'email.complained': 'complained' };

function bouncesIn(body: Uint8Array): Bounce[] {
  let said: unknown = null;
  try {
    said = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return [];
  }
  const notice = Notice.safeParse(said);
  const reason = notice.success ? REASONS[notice.data.type] : undefined;
  if (!notice.success || !reason || notice.data.data?.bounce?.type === 'Transient') return [];
  return (notice.data.data?.to ?? []).map((address) => ({ address, reason }));
}
