import type { MailProviderName } from '#letters/letter.ts';
import type { Config, Env } from '#platform/context.ts';
import { cloudflare } from './cloudflare.ts';
import { local } from './local.ts';
import type { MailProvider } from './mail-provider.ts';
import { resend } from './resend.ts';

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
