import { createContext, useContext } from 'hono/jsx';
import { formatMinute } from '../../parts/text.ts';

export interface Amount {
  asset: string;
  amount: string;
}

export const amountOf = ({ amount, asset }: Amount): string => `${amount} ${asset}`;
export const optionalAmount = (amount: Amount | null | undefined): string | undefined => (amount ? amountOf(amount) : undefined);

/** Names the time that a payment buys. */
export const periodOf = (days: number | null): string => (days === null ? 'without end' : days === 1 ? 'a day' : `${days} days`);

/** Time zone of the account, in which its pages show times. */
export const Zone = createContext('UTC');

/** Time in the account's zone, with UTC as its title. */
export const Time = ({ at, hasSeconds = false }: { at: string; hasSeconds?: boolean }) => (
  <time datetime={at} title={formatMinute(at, 'UTC', hasSeconds)}>
    {formatMinute(at, useContext(Zone), hasSeconds)}
  </time>
);
