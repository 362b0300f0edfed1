import type { AdmissionRpc } from '#rules/admission.ts';
import type { EntitlementRpc } from '#rules/entitlement-rpc.ts';
import type { MeteredSessionRpc } from '#rules/metered/rpc.ts';
import type { Ctx } from './context.ts';
import { inTime } from './deadline.ts';

type Caller = Pick<Ctx, 'env' | 'leftMs'>;

/**
 * Object of an account or a caller's address. A call beyond the deadline throws 503 temporarily_unavailable, and its outcome is unknown.
 */
export const admissionObject = (ctx: Caller, name: string): AdmissionRpc => inTimeOf(ctx, ctx.env.ADMISSION.getByName(name));

export const entitlementObject = (ctx: Caller, name: string): EntitlementRpc => inTimeOf(ctx, ctx.env.ENTITLEMENT.getByName(name));

/** The name includes merchant and mode, so that an id never addresses an object of another tenant. */
export const entitlementObjectName = ({ merchantId, livemode }: { merchantId: string; livemode: boolean }, entitlementId: string): string =>
  `${merchantId}:${livemode ? 'live' : 'sandbox'}:${entitlementId}`;

export const meteredObject = (ctx: Ctx, name: string): MeteredSessionRpc => inTimeOf(ctx, ctx.env.METERED_SESSION.getByName(name));

type Calls = Record<string, (...args: unknown[]) => Promise<unknown>>;

const inTimeOf = <Rpc extends object>(ctx: Caller, object: Rpc): Rpc =>
  new Proxy({} as Rpc, {
    get:
      (_, method: string) =>
      (...args: unknown[]) =>
        inTime(ctx, () => (object as Calls)[method]!(...args)),
  });
