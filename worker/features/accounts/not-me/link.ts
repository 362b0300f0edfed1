import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { type AccountId, partitionOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { findShardAt } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { personStatusOf } from '#rules/access/roles.ts';
import type { DisputedChange } from '#rules/emails.ts';
import { isLinkMac, linkMacs } from '../auth/emailed-links.ts';
import { ownerAddresses } from '../auth/owner-emails.ts';
import { findAccount, findState } from '../store.ts';

/** Change that an email reports. `at` in epoch ms. */
export interface EmailedChange {
  change: DisputedChange;
  at: number;
}

const LIFE_MS = 7 * DAY;
const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9a-z][0-9a-z]{0,9})\.([a-z_]{1,24})\.([\w-]{43})$/;

const linkContent = (id: string, { change, at }: EmailedChange, address: string) => ['not-me', id, change, at, address] as const;

/** Token of the link in an email to `address`. Empty for an unproven address: it does not make its reader the person. */
export const notMeToken = (ctx: Ctx, account: Account, emailed: EmailedChange, address: string): string =>
  ownerAddresses(ctx, account).includes(address)
    ? `${account.id}.${emailed.at.toString(36)}.${emailed.change}.${linkMacs(ctx, ...linkContent(account.id, emailed, address))[0]}`
    : '';

export interface Disputed extends EmailedChange {
  home: Shard;
  account: Account;
  /** Verified address that the email went to. */
  address: string;
  /** Id under which the use of the link is stored, and the time until which it must be. */
  used: { id: string; expiresAt: number };
}

/** Database of the account that a token names, also of a forged one. Null for a token that names no account. */
export const findNotMeHome = (ctx: Ctx, token: string): Shard | null => findShardAt(ctx, partitionOf(TOKEN.exec(token)?.[1] ?? ''));

/**
 * Finds the change of a link without using the link. Throws 401 invalid_credentials for a forged link, 410 link_expired for one that was used
 * or is older than 7 days.
 */
export async function findDisputed(ctx: Ctx, token: string): Promise<Disputed> {
  const [, id = '', at = '', change = '', mac = ''] = TOKEN.exec(token) ?? [];
  const emailed = { change: change as EmailedChange['change'], at: Number.parseInt(at, 36) };
  const home = findNotMeHome(ctx, token);
  const account = home && (await findAccount(home.db, id as AccountId));
  if (!account || !(emailed.at <= ctx.wallNow)) return refuse();
  const expiresAt = emailed.at + LIFE_MS;
  if (expiresAt <= ctx.wallNow || personStatusOf(account) === 'deleted') throw new ApiError('link_expired');
  const address = ownerAddresses(ctx, account).find((one) => isLinkMac(ctx, mac, ...linkContent(id, emailed, one))) ?? refuse();
  const used = { id: `not-me:${id}:${sha256Hex(utf8(token))}`, expiresAt };
  if (await findState(home.db, used.id)) throw new ApiError('link_expired');
  return { ...emailed, home, account, address, used };
}

function refuse(): never {
  throw new ApiError('invalid_credentials', { detail: 'The link is not of this deployment. Check that it was copied completely.' });
}
