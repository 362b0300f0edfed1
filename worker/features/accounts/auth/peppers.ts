import { PEPPER_BYTES, secretRing } from '#core/crypto.ts';
import type { AccountId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { findPlace, listNamedAccounts, type NamedAccount, replaceKeys, savePlace } from './pepper.store.ts';
import { emailKeysOf, walletKeysOf } from './sign-in.ts';

const PAGES = { pageMax: 200, pagesMax: 50 };

/**
 * While there are several peppers, hashes the e-mails and wallets of all accounts anew under the first, so that the others can go. One walk over
 * the accounts from where the last run ended; `taken` says how many were still under another. A walk that took none leaves nothing to do.
 */
export async function sweepPeppers(ctx: Shard): Promise<Swept> {
  if (secretRing(ctx.config.PEPPER, PEPPER_BYTES).length === 1) return { taken: 0, isFinished: true };
  let last: AccountId | null = await findPlace(ctx.db);
  let taken = 0;
  const { isFinished } = await sweepPages(
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
      last = rows.at(-1)!.id;
    },
  );
  await savePlace(ctx.db, isFinished ? null : last, ctx.wallNow);
  return { taken, isFinished };
}

const freshKeys = (
  ctx: Ctx,
  { email, emailKey, walletAddress, walletKey }: NamedAccount,
): Pick<NamedAccount, 'emailKey' | 'walletKey'> => ({
  emailKey: email === null ? emailKey : emailKeysOf(ctx, email).keys[0],
  walletKey: walletAddress === null ? walletKey : walletKeysOf(ctx, walletAddress).keys[0],
});
