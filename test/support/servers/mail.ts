import { hmacSha256 } from '#core/crypto.ts';
import { base64, utf8 } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { type EmailPurpose, emailToken } from '#features/accounts/auth/email-proof.ts';
import { findAccount } from '#features/accounts/store.ts';
import { type Env, type MailMessage, newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import worker from '../../../worker/index.ts';
import { testEnv } from '../runner/env.ts';
import { invoked } from '../runner/invocation.ts';
import { type Merchant, World } from '../world.ts';
import type { TakenMail } from './mail-server.ts';

export const WEBHOOK_SECRET = `whsec_${btoa('a secret of the provider, for tests')}`;
let boxes = 0;

/** Configuration with an email box of its own at the fake Resend. */
export const mailConfig = () => ({
  MAIL_PROVIDER: 'resend',
  MAIL_FROM: 'Svc <post@svc.test>',
  RESEND_API_KEY: 'a-key-of-resend',
  RESEND_API_URL: `${testEnv.TEST_MAIL_URL}/box-${++boxes}-${crypto.randomUUID().slice(0, 8)}`,
  RESEND_WEBHOOK_SECRET: WEBHOOK_SECRET,
});

export function svixHeaders(
  body: Uint8Array,
  { secret = WEBHOOK_SECRET, at = Math.floor(Date.now() / 1000) } = {},
): Record<string, string> {
  const signed = new Uint8Array([...utf8(`msg_1.${at}.`), ...body]);
  const mac = hmacSha256(base64.decode(secret.slice('whsec_'.length)), signed);
  return { 'svix-id': 'msg_1', 'svix-timestamp': String(at), 'svix-signature': `v1,AAAA v1,${base64.encode(mac)}` };
}

export class MailWorld extends World {
  readonly #url: string;

  constructor(config: Record<string, string> = {}) {
    const mail = mailConfig();
    super({ ...mail, ...config });
    this.#url = mail.RESEND_API_URL;
  }

  async habit(habit: 'ok' | 'busy' | 'broken' | 'refuses' | 'forgets' | 'hangs'): Promise<void> {
    await fetch(`${this.#url}/_habit`, { method: 'POST', body: habit });
  }

  async posted(): Promise<{ taken: TakenMail[]; asked: number }> {
    return (await fetch(`${this.#url}/_taken`)).json();
  }

  async post(messages: MailMessage[] = this.mail.splice(0), env: Env = this.env): Promise<{ retried: number }> {
    let retried = 0;
    const batch = messages.map((body, index) => ({
      id: `l${index}`,
      timestamp: new Date(),
      attempts: 1,
      body,
      ack: () => {},
      retry: () => retried++,
    }));
    await invoked('mail', (execution) =>
      worker.queue({ queue: 'svc-mail', messages: batch } as unknown as MessageBatch<MailMessage>, env, execution),
    );
    return { retried };
  }

  async due(): Promise<void> {
    await testEnv.DB.prepare("UPDATE mails SET next_attempt_at = 0, lease_until = 0, queued_until = 0 WHERE status = 'waiting'").run();
  }

  rows = async () => (await testEnv.DB.prepare('SELECT * FROM mails ORDER BY rowid').all<Record<string, string | number | null>>()).results;
}

/** Token in the link of an email to this account, as if written now. */
export async function emailedToken(w: World, userId: string, purpose: EmailPurpose): Promise<string> {
  const ctx = newCtx(w.env, { requestId: 'req_letter', defer: () => {} });
  return emailToken(ctx, purpose, (await findAccount(homeOf(ctx, userId as AccountId).db, userId as AccountId))!, ctx.wallNow);
}

export async function verifyAddress(w: World, { userId }: Pick<Merchant, 'userId'>): Promise<void> {
  const body = { token: await emailedToken(w, userId, 'verify') };
  const { status } = await w.call('POST', '/v1/account/email/verify', { body });
  if (status !== 200) throw new Error(`verify: ${status}`);
}

export const tokenIn = (mail: TakenMail | undefined): string => /#token=([\w.-]+)/.exec(mail?.body.text ?? '')?.[1] ?? '';
