import { PEPPER_BYTES, secretRing } from '#core/crypto.ts';
import type { AccountId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { renewKeys } from '#platform/db/names/names.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { findCursor, listNamedAccounts, type NamedAccount, replaceKeys, savePepperCursor } from './pepper.store.ts';
import { emailKeysOf, walletKeysOf } from './sign-in.ts';

const PAGES = { pageMax: 200, pagesMax: 50 };

/**
 * Rehashes the emails and wallets of all accounts under the first pepper while there are several, in one walk that resumes at the last
 * cursor. `taken` counts the accounts that were under another pepper. Old peppers can be removed after a walk that took none.
 */
export async function sweepPeppers(ctx: Shard): Promise<Swept> {
  if (secretRing(ctx.config.PEPPER, PEPPER_BYTES).length === 1) return { taken: 0, end: 'empty' };
  let last: AccountId | null = await findCursor(ctx.db);
  let taken = 0;
  const { end } = await sweepPages(
    ctx,
    PAGES,
    () => listNamedAccounts(ctx.db, last, PAGES.pageMax),
    async (rows) => {
      const fresh = rows.map((row) => ({ ...row, ...freshKeys(ctx, row) }));
      const old = fresh.filter((row, index) => row.emailKey !== rows[index]!.emailKey || row.walletKey !== rows[index]!.walletKey);
      if (old.length > 0)
        taken += await replaceKeys(
          ctx.db,
          old.map(({ id, version, emailKey, walletKey }) => ({ id, version, emailKey, walletKey })),
        );
      for (const [kind, column] of [
        ['email', 'emailKey'],
        ['wallet', 'walletKey'],
      ] as const)
        await renewKeys(
          ctx,
          kind,
          fresh.map((row, index) => ({ accountId: row.id, key: row[column], formerKey: rows[index]![column] })),
        );
      last = rows.at(-1)!.id;
    },
  );
  await savePepperCursor(ctx.db, end === 'empty' ? null : last, ctx.wallNow);
  return { taken, end };
}

const freshKeys = (
  ctx: Ctx,
  { email, emailKey, walletAddress, walletKey }: NamedAccount,
): Pick<NamedAccount, 'emailKey' | 'walletKey'> => ({
  emailKey: email === null ? emailKey : emailKeysOf(ctx, email).keys[0],
  walletKey: walletAddress === null ? walletKey : walletKeysOf(ctx, walletAddress).keys[0],
});
