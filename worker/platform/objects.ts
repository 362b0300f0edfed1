import type { AdmissionRpc } from '#rules/admission.ts';
import type { EntitlementRpc } from '#rules/entitlement-rpc.ts';
import type { MeteredSessionRpc } from '#rules/metered/rpc.ts';
import type { Ctx } from './context.ts';
import { inTime } from './deadline.ts';

type Caller = Pick<Ctx, 'env' | 'leftMs'>;

/**
 * The object of an account or of a caller's address. A call that outlasts the deadline is given up: 503 temporarily_unavailable, since what
 * became of it is not known.
 */
export const admissionObject = (ctx: Caller, name: string): AdmissionRpc => inTimeOf(ctx, ctx.env.ADMISSION.getByName(name));

/** Same as `admissionObject`, but for the object of an entitlement. */
export const entitlementObject = (ctx: Caller, name: string): EntitlementRpc => inTimeOf(ctx, ctx.env.ENTITLEMENT.getByName(name));

/** Merchant and mode are part of the name of an entitlement's object, so no id reaches an object of another tenant. */
export const entitlementObjectName = ({ merchantId, livemode }: { merchantId: string; livemode: boolean }, entitlementId: string): string =>
  `${merchantId}:${livemode ? 'live' : 'sandbox'}:${entitlementId}`;

/** The same for the object of a metered session, or of a channel's address. */
export const meteredObject = (ctx: Ctx, name: string): MeteredSessionRpc => inTimeOf(ctx, ctx.env.METERED_SESSION.getByName(name));

type Calls = Record<string, (...args: unknown[]) => Promise<unknown>>;

const inTimeOf = <Rpc extends object>(ctx: Caller, object: Rpc): Rpc =>
  new Proxy({} as Rpc, {
    get:
      (_, method: string) =>
      (...args: unknown[]) =>
        inTime(ctx, () => (object as Calls)[method]!(...args)),
  });
