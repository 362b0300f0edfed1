import { PEPPER_BYTES, secretRing } from '#core/crypto.ts';
import type { AccountId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { hasDirectory, type IsUsed, type Name } from '#platform/db/names/names.ts';
import { deleteNames, type UsedName, writeNames } from '#platform/db/names/write-names.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { emailKeysOf, emailName, isUsedAs, walletKeysOf, walletName } from '../auth/sign-in.ts';
import { identityName, isIdentityUsed } from '../oauth/identities.ts';
import { findCursor, listNamedAccounts, listOpenIdentities, type NamedAccount, replaceKeys, savePepperCursor } from './store.ts';

const PAGES = { pageMax: 200, pagesMax: 50 };

type PepperedKind = 'email' | 'wallet' | 'identity';

/** Name of an account with its keys under all peppers. */
interface PepperedName extends Name {
  kind: PepperedKind;
  accountId: AccountId;
}

const USES: Record<PepperedKind, IsUsed> = {
  email: isUsedAs('emailKey'),
  wallet: isUsedAs('walletKey'),
  identity: isIdentityUsed,
};

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
      taken += await renewPage(ctx, rows);
      last = rows.at(-1)!.id;
    },
  );
  await savePepperCursor(ctx.db, end === 'empty' ? null : last, ctx.wallNow);
  return { taken, end };
}

/**
 * Writes the new keys of all rows to the directory, then to the accounts, and then deletes the former keys of those that have the new ones.
 * A walk that was interrupted is completed by the next. An account with a name that another has reserved is counted, and waits for it.
 */
async function renewPage(ctx: Shard, rows: readonly NamedAccount[]): Promise<number> {
  const named = hasDirectory(ctx) ? await listPepperedNames(ctx, rows) : [];
  const renewed = named.map(
    ({ kind, keys: [key, ...formerKeys], accountId }): UsedName<PepperedKind> => ({ kind, key, accountId, formerKeys }),
  );
  const { reserved } = await writeNames(ctx, renewed, USES);
  const waiting = new Set(reserved.map(({ accountId }) => accountId));
  const old = rows.flatMap((row) => {
    const keys = freshKeys(ctx, row);
    return row.emailKey === keys.emailKey && row.walletKey === keys.walletKey ? [] : [{ ...row, ...keys }];
  });
  const due = old.filter(({ id }) => !waiting.has(id));
  const changed = due.length === 0 ? [] : await replaceKeys(ctx.db, due);
  const renewedIds = new Set(changed);
  const behind = new Set([...waiting, ...old.flatMap(({ id }) => (renewedIds.has(id) ? [] : [id]))]);
  const former = named
    .filter(({ accountId }) => !behind.has(accountId))
    .flatMap(({ kind, keys: [, ...others], accountId }) => others.map((key) => ({ kind, key, accountId })));
  if (former.length > 0) await deleteNames(ctx, former);
  return changed.length + waiting.size;
}

async function listPepperedNames(ctx: Shard, rows: readonly NamedAccount[]): Promise<PepperedName[]> {
  const identities = await listOpenIdentities(
    ctx.db,
    rows.map(({ id }) => id),
  );
  return [
    ...rows.flatMap(({ id, email, walletAddress }) => [
      ...(email === null ? [] : [{ ...emailName(ctx, email), accountId: id }]),
      ...(walletAddress === null ? [] : [{ ...walletName(ctx, walletAddress), accountId: id }]),
    ]),
    ...identities.map(({ accountId, provider, subject }) => ({ ...identityName(ctx, provider, subject), accountId })),
  ];
}

const freshKeys = (
  ctx: Ctx,
  { email, emailKey, walletAddress, walletKey }: NamedAccount,
): Pick<NamedAccount, 'emailKey' | 'walletKey'> => ({
  emailKey: email === null ? emailKey : emailKeysOf(ctx, email).keys[0],
  walletKey: walletAddress === null ? walletKey : walletKeysOf(ctx, walletAddress).keys[0],
});
