import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { buyerKeyOf, granteeKeyOf, type OpenSubject } from '#rules/access/buyers.ts';
import { insertSellers } from './store.ts';

/** Wallets and addresses that bought from a merchant in live mode, or were given access. */
export interface NewBuyers {
  merchantId: AccountId;
  hasPaid: boolean;
  wallets: readonly string[];
  emails: readonly string[];
}

/** Plans rows by which buyers find their sellers. */
export function planSellers(db: Db, found: readonly NewBuyers[]): Write[] {
  const rows = found.flatMap(({ merchantId, hasPaid, wallets, emails }) => {
    const subjects: OpenSubject[] = [
      ...wallets.map((wallet_address) => ({ kind: 'wallet' as const, wallet_address })),
      ...emails.map((email) => ({ kind: 'email' as const, email })),
    ];
    return subjects.map((subject) => ({ buyerKey: hasPaid ? buyerKeyOf(subject) : granteeKeyOf(subject), merchantId }));
  });
  return rows.length === 0 ? [] : [insertSellers(db, rows)];
}
