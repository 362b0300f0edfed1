import type { AccountId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { emailKeysOf } from '../auth/sign-in.ts';
import { changeAccount } from '../change-account.ts';
import { eraseInvited } from '../entries/erasure.store.ts';
import { getAccount } from '../store.ts';
import { deleteInvitationRows, listInvitationsTo } from './invitation.store.ts';

/** Keyed hashes of a person's addresses, under each pepper. Stored when the addresses are erased. */
export function addressKeysOfPerson(ctx: Shard, { email, formerEmails }: Account): string[] {
  const addresses = [...(email === null ? [] : [email]), ...formerEmails.map((former) => former.email)];
  return [...new Set(addresses.flatMap((address) => emailKeysOf(ctx, address).keys))];
}

const INVITATIONS_MAX = 100;

/**
 * Deletes invitations to the addresses of a deleted person, and the addresses in the logs of the accounts that invited, some at a time.
 * Returns how many accounts were changed.
 */
export async function eraseInvitationsTo(ctx: Shard, personId: AccountId): Promise<number> {
  const { endedEmailKeys: keys } = await getAccount(ctx.db, personId);
  if (keys === null) return 0;
  const found = (await Promise.all(shardsOf(ctx).map(({ db }) => listInvitationsTo(db, keys, INVITATIONS_MAX)))).flat();
  const byAccount = Map.groupBy(found, ({ accountId }) => accountId);
  for (const [accountId, invited] of byAccount) {
    const home = homeOf(ctx, accountId);
    const ids = invited.map(({ id }) => id);
    await changeAccount(home, accountId, () => ({
      values: {},
      writes: [...eraseInvited(home, accountId, ids), deleteInvitationRows(home.db, accountId, ids)],
    }));
  }
  if (byAccount.size === 0) await changeAccount(ctx, personId, () => ({ values: { endedEmailKeys: null } }));
  return byAccount.size;
}
