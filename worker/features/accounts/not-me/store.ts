import { and, eq, gt, gte, inArray, isNull, or } from 'drizzle-orm';
import type { AccountId, EndpointId, InvitationId, PasskeyId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { type Account, payoutWallets } from '#platform/db/tables/accounts.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { passkeys, recoveryCodes, totpSecrets } from '#platform/db/tables/office/factors.ts';
import { invitations, members } from '#platform/db/tables/office/people.ts';
import { signInIdentities } from '#platform/db/tables/office/sign-in.ts';
import { webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { stepRows } from '#platform/db/versioned.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { deleteRecoveryCodes, deleteTotp } from '../factors/store.ts';
import { deleteMember, disableEndpoints, setMemberRole } from '../members/store.ts';
import { disownWallets } from '../payouts/store.ts';

const BOTH = [true, false];

/** Parts of a row that are the disputing person's: the ways to sign in of that person, and what an account has that the person owns. */
export interface DisputedParts {
  isPerson: boolean;
  isOwner: boolean;
}

export const partsOf = ({ id, ownerId }: Pick<Account, 'id' | 'ownerId'>, personId: AccountId): DisputedParts => ({
  isPerson: id === personId,
  isOwner: ownerId === personId,
});

/** Access of an account that was added since a time. */
export interface AddedAccess {
  keys: { keyHash: string }[];
  endpoints: EndpointId[];
  providers: SignInProvider[];
  passkeys: PasskeyId[];
  hasTotp: boolean;
  hasRecoveryCodes: boolean;
  wallets: string[];
  /** Members who joined since then, and earlier ones who became admins. */
  members: { personId: AccountId; isNew: boolean }[];
  invitations: InvitationId[];
}

const isNewEndpoint = (since: number) => or(gte(webhookEndpoints.createdAt, since), gte(webhookEndpoints.changedAt, since));
const isNewKey = (since: number) => or(gte(apiKeys.createdAt, since), gte(apiKeys.widenedAt, since));
const isNewWallet = (id: AccountId, since: number) =>
  and(eq(payoutWallets.merchantId, id), gte(payoutWallets.createdAt, since), isNull(payoutWallets.disownedAt));

interface Since {
  since: number;
  parts: DisputedParts;
}

export async function findAddedAccess({ db, now }: Shard, id: AccountId, { since, parts }: Since): Promise<AddedAccess> {
  const isLive = or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, now));
  const [keys, endpoints, providers, keysOfPerson, totp, codes, wallets, changedMembers, invited] = await db.batch([
    db
      .select({ keyHash: apiKeys.keyHash })
      .from(apiKeys)
      .where(and(eq(apiKeys.merchantId, id), eq(apiKeys.livemode, true), isNewKey(since), isLive)),
    db
      .select({ id: webhookEndpoints.id })
      .from(webhookEndpoints)
      .where(
        and(
          eq(webhookEndpoints.merchantId, id),
          inArray(webhookEndpoints.livemode, BOTH),
          eq(webhookEndpoints.status, 'enabled'),
          isNewEndpoint(since),
        ),
      ),
    db
      .select({ provider: signInIdentities.provider })
      .from(signInIdentities)
      .where(and(eq(signInIdentities.accountId, id), gte(signInIdentities.linkedAt, since))),
    db
      .select({ id: passkeys.id })
      .from(passkeys)
      .where(and(eq(passkeys.personId, id), gte(passkeys.createdAt, since))),
    db
      .select({ id: totpSecrets.personId })
      .from(totpSecrets)
      .where(and(eq(totpSecrets.personId, id), gte(totpSecrets.confirmedAt, since))),
    db.select({ id: recoveryCodes.personId }).from(recoveryCodes).where(eq(recoveryCodes.personId, id)).limit(1),
    db.select({ wallet: payoutWallets.wallet }).from(payoutWallets).where(isNewWallet(id, since)),
    db
      .select({ personId: members.personId, joinedAt: members.joinedAt })
      .from(members)
      .where(and(eq(members.accountId, id), or(gte(members.joinedAt, since), and(eq(members.role, 'admin'), gte(members.roleAt, since))))),
    db
      .select({ id: invitations.id })
      .from(invitations)
      .where(and(eq(invitations.accountId, id), eq(invitations.status, 'pending'), gte(invitations.createdAt, since))),
  ]);
  const ofPerson = {
    providers: providers.map(({ provider }) => provider),
    passkeys: keysOfPerson.map((row) => row.id),
    hasTotp: totp.length > 0,
    hasRecoveryCodes: codes.length > 0,
  };
  const ofAccount = {
    keys,
    endpoints: endpoints.map((row) => row.id),
    wallets: wallets.map(({ wallet }) => wallet),
    members: changedMembers.map(({ personId, joinedAt }) => ({ personId, isNew: joinedAt >= since })),
    invitations: invited.map((row) => row.id),
  };
  return { ...NOTHING_ADDED, ...(parts.isPerson && ofPerson), ...(parts.isOwner && ofAccount) };
}

const NOTHING_ADDED: AddedAccess = {
  ...{ keys: [], endpoints: [], providers: [], passkeys: [], hasTotp: false, hasRecoveryCodes: false },
  ...{ wallets: [], members: [], invitations: [] },
};

/**
 * Ends what was added since a time: sign-in methods, new and widened live keys, endpoints with their pending deliveries, payout wallets in every setting, with
 * the open sales to them, members, the role of earlier members who became admins, and invitations. Rows that are added meanwhile end too.
 * Recovery codes end whenever they were made: a thief may have read them.
 */
export const endAddedAccess = (ctx: Shard, id: AccountId, ended: Since & { added: AddedAccess }): Write[] => [
  ...(ended.parts.isPerson ? endAddedSignIn(ctx, id, ended) : []),
  ...(ended.parts.isOwner ? endAddedToAccount(ctx, id, ended) : []),
];

interface Ended {
  since: number;
  added: AddedAccess;
}

const endAddedSignIn = ({ db }: Shard, id: AccountId, { since, added }: Ended): Write[] => [
  db.delete(signInIdentities).where(and(eq(signInIdentities.accountId, id), gte(signInIdentities.linkedAt, since))),
  db.delete(passkeys).where(and(eq(passkeys.personId, id), gte(passkeys.createdAt, since))),
  ...(added.hasTotp ? [deleteTotp(db, id)] : []),
  ...(added.hasRecoveryCodes ? [deleteRecoveryCodes(db, id)] : []),
];

function endAddedToAccount(ctx: Shard, id: AccountId, { since, added }: Ended): Write[] {
  const { db, now } = ctx;
  return [
    stepRows(
      db,
      apiKeys,
      { revokedAt: now },
      and(
        eq(apiKeys.merchantId, id),
        eq(apiKeys.livemode, true),
        isNewKey(since),
        or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, now)),
      ),
    ),
    ...disableEndpoints(ctx, id, isNewEndpoint(since)!, 'change_disputed'),
    ...(added.wallets.length > 0 ? disownWallets(ctx, id, added.wallets) : []),
    ...added.members.map(({ personId, isNew }) => (isNew ? deleteMember(db, id, personId) : setMemberRole(ctx, id, personId, 'viewer'))),
    db
      .update(invitations)
      .set({ status: 'withdrawn' })
      .where(and(eq(invitations.accountId, id), eq(invitations.status, 'pending'), gte(invitations.createdAt, since))),
  ];
}
