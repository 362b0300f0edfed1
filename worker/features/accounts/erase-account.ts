import type { AccountId } from '#core/ids.ts';
import { giveAllBack } from '#features/connected-chats/community.ts';
import { dropMailsOf } from '#features/email/outbox.ts';
import type { Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { emptyOrBound, type Swept } from '#platform/db/sweeps.ts';
import { isHandedOver, personStatusOf } from '#rules/access/roles.ts';
import { endPerson } from './account.ts';
import { personObject } from './auth/sessions.ts';
import { planErasedEntries, recordErasure } from './entries/erasure.store.ts';
import { eraseWhatNames, listUnerased, markErased, planErasedActs } from './erasure.store.ts';
import { eraseInvitationsTo } from './members/erase-invitations.ts';
import { type EraseMember, leaveAccounts } from './members/members.ts';
import { planLocks } from './oauth/identities.ts';
import { getAccount } from './store.ts';

const ACCOUNTS_MAX = 20;
const ROWS_MAX = 500;
/** Archived objects of other accounts' logs that one run rewrites for a deleted person. */
const OBJECTS_MAX = 20;

/**
 * Erases the remaining data of a large deleted account, and rows of requests that ran during the deletion. An account is complete once a
 * check finds nothing.
 */
export const sweepErasures =
  (archive: ErasedArchive, objectsMax = OBJECTS_MAX) =>
  async (ctx: Shard): Promise<Swept> => {
    const deleted = await listUnerased(ctx.db, ACCOUNTS_MAX);
    const taken = await forEach(ctx, deleted, ({ id }) => eraseRest(ctx, id, { archive, objectsMax }));
    return { taken, end: emptyOrBound(deleted.length < ACCOUNTS_MAX && taken === deleted.length) };
  };

/** Erasures in the archive. `eraseAccount` returns how many objects may have had names: 0 means done. */
interface ErasedArchive {
  eraseAccount(ctx: Shard, accountId: AccountId): Promise<number>;
  eraseMember: EraseMember;
}

interface Erasing {
  archive: ErasedArchive;
  objectsMax: number;
}

async function eraseRest(ctx: Shard, accountId: AccountId, { archive, objectsMax }: Erasing): Promise<void> {
  const account = await getAccount(ctx.db, accountId);
  const { ownerId } = account;
  const [first, ...others] = [
    ...eraseWhatNames(ctx, accountId, ROWS_MAX),
    ...(await planErasedActs(ctx, accountId, ROWS_MAX)),
    ...(isHandedOver(account) ? [] : await planLocks(ctx, accountId)),
    ...(await planErasedEntries(ctx, accountId, ROWS_MAX)),
    dropMailsOf(ctx, accountId, ROWS_MAX),
  ];
  const erased = (await ctx.db.batch([first!, ...others])) as D1Result[];
  if (isHandedOver(account)) await endPerson(ctx, ownerId);
  const owner = homeOf(ctx, ownerId);
  const hasEnded = personStatusOf(await getAccount(owner.db, ownerId)) === 'deleted';
  const left = hasEnded
    ? (await leaveAccounts(owner, ownerId, objectsMax, archive.eraseMember)) + (await eraseInvitationsTo(owner, ownerId))
    : 0;
  const givenBack = await giveAllBack(ctx, accountId);
  const archived = await archive.eraseAccount(ctx, accountId);
  if (hasEnded) await personObject(ctx, ownerId).forgetSessions();
  if (left === 0 && givenBack === 0 && archived === 0 && erased.every(({ meta }) => meta.changes === 0))
    await ctx.db.batch([recordErasure(ctx, accountId), markErased(ctx, accountId)]);
}
