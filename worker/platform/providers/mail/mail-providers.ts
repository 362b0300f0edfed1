import type { Config, Env } from '#platform/context.ts';
import type { MailProviderName } from '#rules/emails.ts';
import { inTime } from '../../deadline.ts';
import type { MailOutcome, MailProvider } from './mail-provider.ts';
import { resend } from './resend.ts';

/** Local machine: emails are stored instead of sent, and readable at /dev/mail. */
const local: MailProvider = {
  needs: [],
  perSecond: 100,
  send: async (_desk, { id }) => ({ kind: 'sent', providerId: id }),
};

/**
 * Cloudflare Email Service, bound as EMAIL. It has no idempotency: a Worker that crashes between its answer and our write sends the email
 * twice.
 */
interface EmailBinding {
  send(message: { from: string; to: string; subject: string; html: string; text: string }): Promise<{ messageId?: string } | undefined>;
}

const REFUSED = new Set([
  'E_VALIDATION_ERROR',
  'E_FIELD_MISSING',
  'E_TOO_MANY_RECIPIENTS',
  'E_CONTENT_TOO_LARGE',
  'E_RECIPIENT_NOT_ALLOWED',
]);
const BUSY = new Set(['E_RATE_LIMIT_EXCEEDED', 'E_DAILY_LIMIT_EXCEEDED']);
const BOUNCED = new Set(['E_RECIPIENT_SUPPRESSED']);

const cloudflare: MailProvider = {
  needs: [],
  binding: 'EMAIL',
  // The service publishes no rate, only that rate and daily limits exist.
  perSecond: 10,
  async send({ env, leftMs }, { from, to, subject, html, text }): Promise<MailOutcome> {
    const binding = env.EMAIL as EmailBinding | undefined;
    if (!binding) return { kind: 'later', reason: 'EMAIL is not bound' };
    try {
      const sent = await inTime({ leftMs }, () => binding.send({ from, to, subject, html, text }));
      return { kind: 'sent', providerId: sent?.messageId ?? null };
    } catch (error) {
      const code = (error as { code?: unknown } | null)?.code;
      const reason = typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown';
      if (BOUNCED.has(reason)) return { kind: 'refused', reason, isBounced: true };
      if (BUSY.has(reason)) return { kind: 'busy', reason };
      return REFUSED.has(reason) ? { kind: 'refused', reason, isBounced: false } : { kind: 'later', reason };
    }
  },
};

const PROVIDERS: Record<MailProviderName, MailProvider> = { cloudflare, resend, local };

export const findMailProvider = (name: string): MailProvider | null =>
  Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name as MailProviderName] : null;

export type MailConfig = Config & { MAIL_PROVIDER: MailProviderName; MAIL_FROM: string };

export function missingForMail({ config, env }: { config: Config; env: Env }): string[] {
  const { needs = [], binding }: Partial<MailProvider> = config.MAIL_PROVIDER ? PROVIDERS[config.MAIL_PROVIDER] : {};
  const variables = ['MAIL_PROVIDER' as const, 'MAIL_FROM' as const, ...needs].filter((name) => config[name] === undefined);
  return [...variables, ...(binding && env[binding] === undefined ? [binding] : [])];
}

export const hasMail = <C extends { config: Config; env: Env }>(ctx: C): ctx is C & { config: MailConfig } =>
  missingForMail(ctx).length === 0;

export const mailProviderOf = ({ MAIL_PROVIDER }: MailConfig): MailProvider => PROVIDERS[MAIL_PROVIDER];
