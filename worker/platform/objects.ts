import { type Partition, partitionOf, partitionOfAdmission } from '#core/ids.ts';
import type { Region } from '#platform/variables/regions.ts';
import type { AdmissionRpc } from '#rules/admission.ts';
import type { EntitlementRpc } from '#rules/entitlement-rpc.ts';
import type { MeteredSessionRpc } from '#rules/metered/rpc.ts';
import { type Ctx, checkedConfig, databaseMapOf, type Env } from './context.ts';
import { inTime } from './deadline.ts';

type Caller = Pick<Ctx, 'env' | 'leftMs'>;

/**
 * Object of an account or a caller's address. A call beyond the deadline throws 503 temporarily_unavailable, and its outcome is unknown.
 */
export const admissionObject = (ctx: Caller, name: string): AdmissionRpc =>
  inTimeOf(ctx, ctx.env.ADMISSION.getByName(...nearHome(ctx.env, name)));

export const entitlementObject = (ctx: Caller, name: string): EntitlementRpc =>
  inTimeOf(ctx, ctx.env.ENTITLEMENT.getByName(...nearHome(ctx.env, name)));

/** The name includes merchant and mode, so that an id never addresses an object of another tenant. */
export const entitlementObjectName = ({ merchantId, livemode }: { merchantId: string; livemode: boolean }, entitlementId: string): string =>
  `${merchantId}:${livemode ? 'live' : 'sandbox'}:${entitlementId}`;

/** Object of a session or of a channel's address. The latter names no merchant, so the session that claims it is its `owner`. */
export const meteredObject = (ctx: Ctx, name: string, owner = name): MeteredSessionRpc =>
  inTimeOf(ctx, ctx.env.METERED_SESSION.getByName(...nearHome(ctx.env, name, owner)));

type NamedObject = [name: string, options?: { locationHint: Region }];

/**
 * Name of an object, with the region of its merchant's database. Only the first call of an object creates it, so every caller passes the region:
 * a queue consumer runs anywhere. Objects of no merchant are created near their first caller.
 */
export function nearHome(env: Env, name: string, owner = name): NamedObject {
  const { config } = checkedConfig(env);
  if (!config?.DATABASES) return [name];
  const partition = ownerPartition(owner);
  const { partitions, regions } = databaseMapOf(env, config);
  const locationHint = partition === null ? undefined : regions.get(partitions.databaseAt(partition) ?? '');
  return locationHint === undefined ? [name] : [name, { locationHint }];
}

function ownerPartition(name: string): Partition | null {
  const [, admissionId] = /^account:([0-9A-Za-z]{11})$/.exec(name) ?? [];
  if (admissionId !== undefined) return partitionOfAdmission(admissionId);
  const [id = ''] = name.split(':');
  return partitionOf(id);
}

type Calls = Record<string, (...args: unknown[]) => Promise<unknown>>;

const inTimeOf = <Rpc extends object>(ctx: Caller, object: Rpc): Rpc =>
  new Proxy({} as Rpc, {
    get:
      (_, method: string) =>
      (...args: unknown[]) =>
        inTime(ctx, () => (object as Calls)[method]!(...args)),
  });
