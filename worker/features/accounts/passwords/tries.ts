import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { newFence } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import type { Ctx } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { admissionObject } from '#platform/objects.ts';
import { sharedNetworkOf } from '#rules/access/networks.ts';
import { FAILED_MAX } from '#rules/access/password-tries.ts';
import { personStatusOf } from '#rules/access/roles.ts';
import { ownerAddresses } from '../auth/owner-emails.ts';
import { noteRefusedSignIn } from '../entries/sign-ins.ts';

/** Object of an email address, hashed, because addresses must not be readable in an object's name. It is the same whether or not an account has it. */
const passwordsOf = (ctx: Ctx, email: string) => admissionObject(ctx, `passwords:${sha256Hex(utf8(email)).slice(0, 32)}`);

/** Makes networks known, or those of addresses, for a person who signed in from there. `email`: in its normal form. */
export async function learnNetworks(ctx: Ctx, email: string | null, networks: string[]): Promise<void> {
  if (email !== null) await passwordsOf(ctx, email).learnNetworks([...new Set(networks.map(sharedNetworkOf))], ctx.wallNow);
}

export const knownNetworks = async (ctx: Ctx, email: string | null): Promise<string[]> =>
  email === null ? [] : passwordsOf(ctx, email).knownNetworks(ctx.wallNow);

/** Forgets the networks of the person who had an address before its reader. A failure leaves them known for the rest of 90 days. */
export async function forgetNetworks(ctx: Ctx, email: string | null): Promise<void> {
  if (email === null) return;
  const pending = passwordsOf(ctx, email).forgetNetworks();
  await pending.catch((error: unknown) => ctx.note(`networks not forgotten: ${formatErrorChain(error)}`));
}

interface Tried {
  /** Email address in its normal form. */
  email: string;
  ip: string;
  /** Returns the account if the password is right. */
  check(): Promise<Account | null>;
  /** Account of the address, right password or not. */
  find(): Promise<Account | undefined>;
}

const LINK_REQUIRED = 'email_link_required';

function raiseLinkRequired(): never {
  throw new ApiError('invalid_credentials', {
    detail:
      'Too many wrong passwords were tried. If yours was right, open the link that was emailed to you, or sign in from a network that you used before.',
    meta: { reason: LINK_REQUIRED },
  });
}

/**
 * Checks a password that was sent from an address. After FAILED_MAX wrong ones within an hour, from all addresses together, a network from
 * which the person never signed in gets the same refusal for right and wrong passwords, and a right one causes an email with a link. Throws
 * 401 invalid_credentials.
 */
export async function checkPassword(ctx: Ctx, { email, ip, check, find }: Tried, wrong?: string): Promise<Account> {
  const object = passwordsOf(ctx, email);
  const tryId = newFence();
  const { isKnown, failures } = await object.tryPassword({ tryId, network: sharedNetworkOf(ip) }, ctx.wallNow);
  const withdraw = () => object.withdrawPassword(tryId);
  const account = await check().catch(async (error: unknown) => {
    ctx.defer(noting(ctx, withdraw()));
    throw error;
  });
  const isRefused = !isKnown && failures > FAILED_MAX;
  // Deferred, so that the time of the answer says nothing about the password.
  if (account) ctx.defer(noting(ctx, isRefused ? withdraw().then(() => sendLink(ctx, account, ip)) : withdraw()));
  else if (failures >= FAILED_MAX) ctx.defer(noting(ctx, warnOwner(ctx, email, find)));
  if (account && !isRefused) return account;
  // A wrong current password in a session is no sign-in.
  if (!ctx.acting.actor) noteRefusedSignIn(ctx, find, { method: 'password', reason: isRefused ? LINK_REQUIRED : 'invalid_credentials' });
  return isRefused ? raiseLinkRequired() : raiseWrong(wrong);
}

function raiseWrong(detail: string | undefined): never {
  throw new ApiError('invalid_credentials', detail === undefined ? {} : { detail });
}

/** A failure costs the person a try for an hour, or an email that the next try sends. */
const noting = (ctx: Ctx, work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => ctx.note(`password try: ${formatErrorChain(error)}`));

async function sendLink(ctx: Ctx, account: Account, ip: string): Promise<void> {
  const { email } = account;
  if (email === null || personStatusOf(account) !== 'active' || !(await passwordsOf(ctx, email).claimNotice('link', ctx.wallNow))) return;
  const home = homeOf(ctx, account.id);
  const facts = { at: iso(ctx.wallNow), ip };
  const { writes } = planEmail(home, { template: 'sign_in_link', facts, accountId: account.id, address: email });
  await commit(home, { events: [], writes, result: null });
}

async function warnOwner(ctx: Ctx, email: string, find: Tried['find']): Promise<void> {
  const account = await find();
  if (!account?.email || personStatusOf(account) !== 'active' || !(await passwordsOf(ctx, email).claimNotice('warning', ctx.wallNow)))
    return;
  const home = homeOf(ctx, account.id);
  const facts = { at: iso(ctx.wallNow), failed: FAILED_MAX };
  const writes = [...new Set([account.email, ...ownerAddresses(ctx, account)])].flatMap(
    (address) => planEmail(home, { template: 'many_wrong_passwords', facts, accountId: account.id, address }).writes,
  );
  await commit(home, { events: [], writes, result: null });
}
