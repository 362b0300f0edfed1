import type { Config, Env } from '#platform/context.ts';

interface OutgoingMail {
  /** Identical on every attempt, so that a provider that stores ids sends the email once. */
  id: string;
  from: string;
  to: string;
  subject: string;
  html: string;
  text: string;
}

export type MailOutcome =
  | { kind: 'sent'; providerId: string | null }
  /** Temporary failure, retried no sooner than the provider says. */
  | { kind: 'later'; reason: string; afterSeconds?: number }
  /** Rate limit of the provider, which did not process the email. Retried, and not counted as an attempt. */
  | { kind: 'busy'; reason: string; afterSeconds?: number }
  /** Permanent failure. `isBounced`: no further email is sent to the address. */
  | { kind: 'refused'; reason: string; isBounced: boolean };

interface MailDesk {
  env: Env;
  config: Config;
  leftMs(): number;
}

export interface Bounce {
  address: string;
  reason: 'bounced' | 'complained';
}

export interface MailProvider {
  needs: readonly (keyof Config)[];
  binding?: 'EMAIL';
  /** Emails per second under the provider's default limit. */
  perSecond: number;
  send(desk: MailDesk, mail: OutgoingMail): Promise<MailOutcome>;
  bounces?: {
    secret: keyof Config;
    /** Parses the webhook, null if the signature is invalid. */
    read(desk: Pick<MailDesk, 'config'>, headers: Headers, body: Uint8Array, now: number): Bounce[] | null;
  };
}
