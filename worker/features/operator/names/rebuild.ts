import { ApiError } from '#core/errors.ts';
import { partitionOfSlug } from '#core/ids.ts';
import { listPasskeysAfter } from '#features/accounts/factors/store.ts';
import { identityName, isLocked } from '#features/accounts/oauth/identities.ts';
import { passkeyName } from '#features/accounts/passkeys/passkey.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { noteNamesComplete, type SharedName, type UsedName, writeNames } from '#platform/db/names/write-names.ts';
import { NAME_USES } from './name-uses.ts';
import { listAccountKeys, listCustomersAfter, listIdentitiesAfter, listSlugsAfter } from './store.ts';

export interface RebuiltPage {
  names_read: number;
  names_written: number;
  shared: SharedName[];
  reserved: number;
  next: string | null;
}

const PAGE_SIZE = 100;

interface Listed {
  used: UsedName[];
  last: string | null;
}
type List = (shard: Shard, after: string) => Promise<Listed>;

const pageOf = <Row>(rows: readonly Row[], cursorOf: (row: Row) => string, namesOf: (row: Row) => UsedName[]): Listed => ({
  used: rows.flatMap(namesOf),
  last: rows.length < PAGE_SIZE ? null : cursorOf(rows.at(-1)!),
});

const listAccountNames: List = async ({ db }, after) =>
  pageOf(
    await listAccountKeys(db, after, PAGE_SIZE),
    ({ id }) => id,
    ({ id: accountId, emailKey, walletKey }) => [
      ...(emailKey === null ? [] : [{ kind: 'email' as const, key: emailKey, accountId }]),
      ...(walletKey === null ? [] : [{ kind: 'wallet' as const, key: walletKey, accountId }]),
    ],
  );

const listIdentityNames: List = async (shard, after) =>
  pageOf(
    await listIdentitiesAfter(shard.db, after, PAGE_SIZE),
    ({ accountId, provider }) => `${accountId} ${provider}`,
    (identity) => {
      const { accountId, provider, subject } = identity;
      const key = isLocked(identity) ? subject : identityName(shard, provider, subject).keys[0];
      return [{ kind: 'identity', key, accountId }];
    },
  );

const listPasskeyNames: List = async ({ db }, after) =>
  pageOf(
    await listPasskeysAfter(db, after, PAGE_SIZE),
    ({ id }) => id,
    ({ credentialId, accountId }) => [{ kind: 'passkey', key: passkeyName(credentialId).keys[0], accountId }],
  );

const listSlugNames: List = async ({ db }, after) =>
  pageOf(
    await listSlugsAfter(db, after, PAGE_SIZE),
    ({ id }) => id,
    ({ slug, merchantId }) => (partitionOfSlug(slug) === null ? [{ kind: 'slug', key: slug, accountId: merchantId }] : []),
  );

const listCustomerNames: List = async ({ db }, after) =>
  pageOf(
    await listCustomersAfter(db, after, PAGE_SIZE),
    ({ accountId }) => accountId,
    ({ customerId, accountId }) => [{ kind: 'customer', key: customerId, accountId }],
  );

const LISTS = [listAccountNames, listIdentityNames, listPasskeyNames, listSlugNames, listCustomerNames];

/**
 * Writes the names of all databases to the directory, one page per call. Idempotent. A name that accounts of two databases use is reported,
 * and belongs to the older one. Throws 409 state_conflict without a directory.
 */
export async function rebuildNames(ctx: Ctx, after: string): Promise<RebuiltPage> {
  if (ctx.directory === null) {
    const detail = 'The database of the names is not bound. Bind it as DIRECTORY, deploy and try again.';
    throw new ApiError('state_conflict', { detail });
  }
  const stages = shardsOf(ctx).flatMap((shard) => LISTS.map((list) => (from: string) => list(shard, from)));
  const [, stage = '0', from = ''] = /^(\d+)\.(.*)$/.exec(after) ?? [];
  const { used, last } = (await stages[Number(stage)]?.(from)) ?? { used: [], last: null };
  const { written, shared, reserved } = await writeNames(ctx, used, NAME_USES);
  const next = last === null ? Number(stage) + 1 : Number(stage);
  if (next >= stages.length) await noteNamesComplete(ctx);
  return {
    names_read: used.length,
    names_written: written,
    shared,
    reserved: reserved.length,
    next: next < stages.length ? `${next}.${last ?? ''}` : null,
  };
}
