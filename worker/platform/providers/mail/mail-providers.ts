import type { Config, Env } from '#platform/context.ts';
import type { MailProviderName } from '#rules/letters.ts';
import { inTime } from '../../deadline.ts';
import type { MailOutcome, MailProvider } from './mail-provider.ts';
import { resend } from './resend.ts';

/** On a local machine: a letter is sent by being kept, and read at /dev/mail. */
const local: MailProvider = {
  needs: [],
  perSecond: 100,
  send: async (_desk, { id }) => ({ kind: 'sent', providerId: id }),
};

/** The platform's own Email Service, bound as EMAIL. It keeps no id of ours: a Worker that dies between its answer and our note sends twice. */
interface EmailBinding {
  send(message: { from: string; to: string; subject: string; html: string; text: string }): Promise<{ messageId?: string } | undefined>;
}

/** What is wrong with the letter or its address, by the codes of the service; everything else may pass. */
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
  // It publishes no rate, only that it has limits, by the day too.
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

/** A provider by the name that stands in its webhook's address; null for none of ours. */
export const findMailProvider = (name: string): MailProvider | null =>
  Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name as MailProviderName] : null;

export type MailConfig = Config & { MAIL_PROVIDER: MailProviderName; MAIL_FROM: string };

/** Variables and bindings without which no letter is sent, by their names; none where all are there. */
export function missingForMail({ config, env }: { config: Config; env: Env }): string[] {
  const { needs = [], binding }: Partial<MailProvider> = config.MAIL_PROVIDER ? PROVIDERS[config.MAIL_PROVIDER] : {};
  const variables = ['MAIL_PROVIDER' as const, 'MAIL_FROM' as const, ...needs].filter((name) => config[name] === undefined);
  return [...variables, ...(binding && env[binding] === undefined ? [binding] : [])];
}

export const hasMail = <C extends { config: Config; env: Env }>(ctx: C): ctx is C & { config: MailConfig } =>
  missingForMail(ctx).length === 0;

export const mailProviderOf = ({ MAIL_PROVIDER }: MailConfig): MailProvider => PROVIDERS[MAIL_PROVIDER];
