import { type AccountId, admissionIdOf, newIdIn } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { personIn, recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { drawPartition } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';

type SignInIdentity = Partial<Pick<Account, 'email' | 'emailKey' | 'passwordHash' | 'walletAddress' | 'walletKey'>>;

/** Name of an account that its person has not named. */
export const NEW_ACCOUNT = 'New account';

/** Token version of a new account. */
export const NEW_TOKEN_VERSION = 1;

export function newAccount(ctx: Shard, displayName: string, identity: SignInIdentity): Account {
  const accountId = newIdIn<AccountId>(ctx.now, drawPartition(ctx));
  return {
    id: accountId,
    admissionId: admissionIdOf(accountId),
    ownerId: accountId,
    payoutWallet: identity.walletAddress ?? null,
    roles: {},
    name: displayName,
    lastAccountId: null,
    endedEmailKeys: null,
    personEndedAt: null,
    transfer: null,
    requireFactor: false,
    email: null,
    emailKey: null,
    walletAddress: null,
    walletKey: null,
    passwordHash: null,
    displayName,
    plan: 'free',
    planThrough: null,
    processorPlans: [],
    status: 'active',
    isStaff: false,
    tokenVersion: NEW_TOKEN_VERSION,
    emailVerified: false,
    joinAskedAt: null,
    formerEmails: [],
    factors: null,
    factorsEndAt: null,
    timezone: 'UTC',
    locale: 'en',
    notificationPrefs: {},
    merchantSettings: {},
    salesPausedAt: null,
    emailComplaints: [],
    emailsPausedAt: null,
    createdAt: ctx.now,
    claimed: null,
    deletedAt: null,
    erasedAt: null,
    version: 1,
    changedBy: null,
    ...identity,
  };
}

/** Entry of a registration. */
export const recordNewAccount = (ctx: Shard, { id, ownerId, displayName, email, walletAddress }: Account): Write =>
  recordAction(
    ctx,
    { merchantId: id, livemode: true },
    {
      action: 'account.created',
      subject: { type: 'account', id },
      after: { display_name: displayName, email, wallet_address: walletAddress },
      by: personIn(ownerId),
    },
  );
