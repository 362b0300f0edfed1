import type { ApiError } from '#core/errors.ts';
import type { AccountId, KeyId } from '#core/ids.ts';
import { partitionOfAdmission } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import { DAY, MINUTE } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type NewAuditEntry, recordAction } from '#platform/db/audit/record-action.ts';
import { isRefusedOften } from '#platform/db/audit/recorded.ts';
import { findShardAt, homeOf } from '#platform/db/directory.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { announceEntries } from '#platform/queues/send-jobs.ts';
import { findAdmission, findKey } from '../store.ts';

const REFUSED_A_DAY = 100;
/** Accounts with a full log of refusals, and the time until which none is tried, so that a repeated call costs no reads. */
const full = new Memory<AccountId, number>(1000);
const FULL_MS = 10 * MINUTE;

type Caller = Pick<AppEnv['Variables'], 'key' | 'refusedMember'>;
interface Refused {
  home: Shard;
  tenant: { merchantId: AccountId; livemode: boolean };
  by?: NewAuditEntry['by'];
}

/** Records a refusal for role, scope, address or step-up in the log of the account, at most 100 a day. `operation`: method and path. */
export async function recordRefusal(ctx: Ctx, caller: Caller, { options }: ApiError, operation: string): Promise<void> {
  const refused = await findRefused(ctx, caller);
  if (!refused || (full.get(refused.tenant.merchantId) ?? 0) > ctx.wallNow) return;
  const { home, tenant, by } = refused;
  const { reason, needs } = options.meta ?? {};
  const action = 'access.refused';
  const entry = {
    action,
    subject: { type: 'operation', id: operation },
    outcome: 'refused',
    reason: String(reason),
    after: { needs },
    by,
  } as const;
  const isFull = isRefusedOften({ merchantId: tenant.merchantId, action, since: ctx.wallNow - DAY }, REFUSED_A_DAY);
  const [{ meta }] = (await home.db.batch([recordAction(home, tenant, entry, isFull)])) as [D1Result];
  if (meta.changes === 0) full.set(tenant.merchantId, ctx.wallNow + FULL_MS);
  announceEntries(ctx);
}

/** Log and author of a refusal. The account of a refused key is read from the database. */
async function findRefused(ctx: Ctx, { key, refusedMember }: Caller): Promise<Refused | null> {
  const { actor } = ctx.acting;
  if (actor) return { home: homeOf(ctx, actor.accountId), tenant: { merchantId: actor.accountId, livemode: actor.livemode } };
  if (refusedMember) {
    const { accountId: merchantId, personId, role, livemode } = refusedMember;
    return { home: homeOf(ctx, merchantId), tenant: { merchantId, livemode }, by: { kind: 'person', id: personId, role } };
  }
  const home = key && findShardAt(ctx, partitionOfAdmission(key.admissionId));
  const known = home && (await findAdmission(home.db, key.admissionId));
  if (!known) return null;
  const { accountId } = known.account;
  const row = await findKey(home.db, accountId, key.keyId as KeyId);
  return row ? { home, tenant: row, by: { kind: 'key', id: row.id } } : null;
}
