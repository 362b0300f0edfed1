import { z } from 'zod';
import { isOneOf, secretRing } from '#core/crypto.ts';
import { ApiError, raise } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { OPERATOR_SECRET_BYTES, operatorsOf } from '#platform/variables.ts';
import type { AuditAction } from '#rules/access/audit-actions.ts';
import { isHandedOver } from '#rules/access/roles.ts';
import { ACCOUNT } from '#rules/states.ts';
import { findAccountByEmail } from '../auth/sign-in.ts';
import { type AccountChange, changeAccount } from '../change-account.ts';
import { findAccount } from '../store.ts';

export const OPERATOR_ACTIONS = ['suspend', 'resume', 'staff', 'unstaff'] as const;
type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

const LONE_OPERATOR = 'operator';

/** Returns the name of the operator. Throws 404, as for an unknown path, unless a configured secret is shown. */
export function requireOperator({ config }: Ctx, secret: string | undefined): string {
  const { OPERATOR_SECRET, OPERATOR_SECRETS } = config;
  const ring = OPERATOR_SECRET === undefined ? [] : secretRing(OPERATOR_SECRET, OPERATOR_SECRET_BYTES);
  const known = [
    ...(OPERATOR_SECRETS === undefined ? [] : operatorsOf(OPERATOR_SECRETS)),
    ...ring.map((one) => [LONE_OPERATOR, one] as const),
  ];
  // All are compared, so that the time of the answer says nothing about one.
  const found = known.filter(([, one]) => secret !== undefined && isOneOf(secret, [one]));
  return found[0]?.[0] ?? raise('not_found', { hidesPath: true });
}

export const isAccountId = (named: string): boolean => z.uuid().safeParse(named).success;

/** Finds the account that an operator names by email or user id. Throws 404 not_found. */
export async function findOperated(ctx: Ctx, named: string): Promise<Account> {
  const byId = ({ db }: Shard) => findAccount(db, named as AccountId);
  return (await (isAccountId(named) ? byId(homeOf(ctx, named)) : findAccountByEmail(ctx, named))) ?? raise('not_found');
}

/**
 * Applies an operator action to an account named by email or user id. Staff are named by id or a verified email, because another person may
 * have registered the email first. Idempotent. Throws 404 not_found, 409 state_conflict (email_required, email_unverified, handed_over).
 */
export async function operateAccount(ctx: Ctx, input: { account: string; action: OperatorAction }): Promise<Account> {
  const isUserId = isAccountId(input.account);
  const { id } = await findOperated(ctx, input.account);
  return changeAccount(homeOf(ctx, id), id, (account) => {
    const isUnproven = !isUserId && input.action === 'staff' && !account.emailVerified && !account.isStaff;
    if (isUnproven) {
      const detail = 'The email address is not verified. Name the account by its user id.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'email_unverified' } });
    }
    // The person of an address owns another account now, and staff act in their own.
    if (isHandedOver(account) && (!isUserId || input.action === 'staff')) {
      const detail = 'The account was handed over. Name the account by its own id.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'handed_over' } });
    }
    const change = planAction(account, input.action);
    if (!change) return null;
    const subject = { type: 'account', id } as const;
    const home = homeOf(ctx, id);
    return { ...change, writes: [recordAction(home, { merchantId: id, livemode: true }, { action: RECORDED[input.action], subject })] };
  });
}

/** Throws 422 validation_error without a reason, for changes that give access or sending back. The log shows it. */
export function requireReason({ acting: { operator } }: Ctx): void {
  if (operator?.reason) return;
  const problem = { loc: ['header', 'X-Svc-Operator-Reason'], msg: 'Give a reason', type: 'missing' };
  throw new ApiError('validation_error', { problems: [problem] });
}

const RECORDED = {
  suspend: 'account.suspended',
  resume: 'account.resumed',
  staff: 'account.staff_given',
  unstaff: 'account.staff_taken',
} as const satisfies Record<OperatorAction, AuditAction>;

function planAction(account: Account, action: OperatorAction): AccountChange | null {
  if (action === 'suspend') {
    if (account.status === 'suspended') return null;
    return { values: { status: ACCOUNT.next(account.status, 'suspend'), tokenVersion: account.tokenVersion + 1 } };
  }
  if (action === 'resume') return account.status === 'active' ? null : { values: { status: ACCOUNT.next(account.status, 'resume') } };
  const isStaff = action === 'staff';
  if (account.isStaff === isStaff) return null;
  // Staff sign in with an email. A wallet alone proves no identity.
  if (isStaff && account.email === null) throw new ApiError('state_conflict', { meta: { reason: 'email_required' } });
  return { values: { isStaff } };
}
