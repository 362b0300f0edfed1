import { parseAmount } from '#core/money.ts';
import type { Manifest } from './schema.ts';

/** Parses limits in base units of USDC. Null: no limit wanted. Undefined: unreadable, so the previous limit stays in force. */
export function spendLimitsOf({ spend_limits: limits }: Manifest): { perPayment?: bigint | null; perDay?: bigint | null } {
  const read = (limit: typeof limits.per_payment): bigint | null | undefined => {
    if (limit === undefined) return null;
    const parsed = limit.asset === 'USDC' ? parseAmount('USDC', limit.amount) : null;
    return parsed?.ok ? parsed.value.units : undefined;
  };
  return { perPayment: read(limits.per_payment), perDay: read(limits.per_day) };
}
