import { ApiError } from '#core/errors.ts';
import type { Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { hasDirectory, type IsUsed, type Name, withNames } from '#platform/db/names/names.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { personStatusOf } from '#rules/access/roles.ts';
import { emailKeysOf, emailName } from '../auth/sign-in.ts';
import { changeAccount } from '../change-account.ts';
import { newAccount, recordNewAccount } from '../new-account.ts';
import { listIdentities } from '../oauth/store.ts';
import { abortIfTaken, findAccount, insertAccount } from '../store.ts';
import { hasSoldAnywhere } from './claim.ts';
import { abortIfSold } from './store.ts';

const LOCKED = 'email_unverified';

export const hasOtherWay = async ({ db }: Shard, { id, walletKey, factors }: Account): Promise<boolean> =>
  walletKey !== null || (factors?.passkeys ?? 0) > 0 || (await listIdentities(db, id)).length > 0;

/**
 * Protects a shop that has sold and has another way in: its creator may have misspelled the address, so the reader does not get the
 * account. Returns the writes that abort if it sells meanwhile. Throws an error that `isAddressLocked` recognises.
 */
export async function planUnowned(ctx: Shard, account: Account): Promise<Write[]> {
  if (!(await hasOtherWay(ctx, account))) return [];
  if (!(await hasSoldAnywhere(ctx, account))) return [abortIfSold(ctx, account.id)];
  throw new ApiError('state_conflict', { meta: { reason: LOCKED } });
}

export const isAddressLocked = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'state_conflict' && error.options.meta?.reason === LOCKED;

/** Entry of an address that left an account. Its reader is no person of that account. */
export const recordDisowned = (ctx: Shard, { id, email }: Account): Write =>
  recordAction(
    ctx,
    { merchantId: id, livemode: true },
    {
      action: 'person.email_disowned',
      subject: { type: 'person', id },
      before: { email },
      after: { email: null },
      by: { kind: 'system', id: null },
    },
  );

interface Reader {
  displayName: string;
  passwordHash: string | null;
  /** Other names of the new account. */
  names?: (Name & { isUsed: IsUsed })[];
  /** Writes of the batch. Checks again at each try what makes the reader the owner of the address. */
  plan(account: Account, reader: Account): Write[] | Promise<Write[]>;
}

/**
 * Moves the unverified address of a shop that has sold to a new account of its proven reader, in one batch of one database. The shop stays
 * with its maker, and so do sessions and keys. Throws 409 state_conflict if the shop has another address meanwhile.
 */
export async function moveAddress(home: Shard, known: Account, { plan, names = [], displayName, passwordHash }: Reader): Promise<Account> {
  const address = known.email!;
  const keys = emailKeysOf(home, address);
  const reader = {
    ...newAccount(home, displayName, { email: address, emailKey: keys.keys[0], passwordHash }),
    emailVerified: true,
  };
  const change = (reserved: Write[]) =>
    changeAccount(home, known.id, async (account) => {
      const planned = await plan(account, reader);
      const isSame = account.emailKey === known.emailKey && !account.emailVerified && personStatusOf(account) === 'active';
      if (!isSame) throw new ApiError('state_conflict', { meta: { reason: 'contended' } });
      return {
        values: { email: null, emailKey: null },
        writes: [
          ...reserved,
          ...abortIfTaken(home, reader.id, keys),
          ...insertAccount(home.db, reader),
          recordDisowned(home, account),
          recordNewAccount(home, reader),
          ...planned,
        ],
        wasStored: async () => (await findAccount(home.db, reader.id)) !== undefined,
      };
    });
  const name = emailName(home, address);
  // Until the batch the shop uses the address.
  const isUsedByOthers: IsUsed = async (shard, id, used) => id !== known.id && name.isUsed(shard, id, used);
  try {
    await withNames(home, reader.id, [{ ...name, isUsed: isUsedByOthers }, ...names], change);
  } catch (error) {
    // The address remains that of the shop, and the directory has to lead there again.
    if (hasDirectory(home)) home.defer(withNames(home, known.id, [name], async () => null));
    throw error;
  }
  return reader;
}
