import { ApiError } from '#core/errors.ts';
import { DAY, MINUTE } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { isInNetworks } from '#rules/access/networks.ts';
import { isWithinScopes } from '#rules/access/scopes.ts';

/** Restrictions of a key. null: none. */
export type Restrictions = Pick<ApiKey, 'scopes' | 'expiresAt' | 'allowedIps'>;

export const UNRESTRICTED: Restrictions = { scopes: null, expiresAt: null, allowedIps: null };

const LIFE = { min: MINUTE, max: 2 * 365 * DAY };

/** Throws 422 validation_error if the key would end in less than a minute or more than two years from now. */
export function requireSoonEnd({ now }: Ctx, { expiresAt }: Pick<Restrictions, 'expiresAt'>): void {
  if (expiresAt === null || (expiresAt >= now + LIFE.min && expiresAt <= now + LIFE.max)) return;
  const msg = 'Expected a time from one minute to two years ahead';
  throw new ApiError('validation_error', { problems: [{ loc: ['body', 'expires_at'], msg, type: 'out_of_range' }] });
}

const isWithinTime = (next: number | null, before: number | null): boolean => before === null || (next !== null && next <= before);

const isWithinNetworks = (next: string[] | null, before: string[] | null): boolean =>
  before === null || next?.every((network) => isInNetworks(network, before)) === true;

/** True if the next restrictions allow nothing that those before do not. */
export const isNarrower = (next: Restrictions, before: Restrictions): boolean =>
  isWithinScopes(next.scopes, before.scopes) &&
  isWithinTime(next.expiresAt, before.expiresAt) &&
  isWithinNetworks(next.allowedIps, before.allowedIps);
