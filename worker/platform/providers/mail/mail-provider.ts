import type { Config, Env } from '#platform/context.ts';

/** One letter, ready to go. */
interface OutgoingMail {
  /** The same at every attempt: a provider that keeps it sends the letter once. */
  id: string;
  from: string;
  to: string;
  subject: string;
  html: string;
  text: string;
}

export type MailOutcome =
  | { kind: 'sent'; providerId: string | null }
  /** Not now: tried again, no sooner than the provider says. */
  | { kind: 'later'; reason: string; afterSeconds?: number }
  /** The provider takes no more at this rate, and did not look at the letter: tried again, and not counted among its attempts. */
  | { kind: 'busy'; reason: string; afterSeconds?: number }
  /** Never as it is. `isBounced`: because of the address, to which nothing is sent any more. */
  | { kind: 'refused'; reason: string; isBounced: boolean };

interface MailDesk {
  env: Env;
  config: Config;
  leftMs(): number;
}

/** What a provider says became of letters after it had taken them. */
export interface Bounce {
  address: string;
  reason: 'bounced' | 'complained';
}

/** A way to send letters, as one row. Expected failures are outcomes; nothing throws. */
export interface MailProvider {
  /** Variables it needs beside MAIL_FROM; their names are what `missing` in answers holds. */
  needs: readonly (keyof Config)[];
  /** What has to be bound in wrangler.toml for it. */
  binding?: 'EMAIL';
  /** Letters that it takes in a second from an account without an agreement of its own. */
  perSecond: number;
  send(desk: MailDesk, mail: OutgoingMail): Promise<MailOutcome>;
  /** Its webhook. Absent: it has none. */
  bounces?: {
    /** The variable that holds what the webhook is signed with. */
    secret: keyof Config;
    /** What it says; null where the signature is not its own. */
    read(desk: Pick<MailDesk, 'config'>, headers: Headers, body: Uint8Array, now: number): Bounce[] | null;
  };
}
