import { ApiError } from '#core/errors.ts';
import type { AdmissionRpc } from '#rules/admission.ts';
import type { EntitlementRpc } from '#rules/entitlement-rpc.ts';
import type { Ctx } from './context.ts';

/**
 * The object of an account or of a caller's address. A call that outlasts the deadline is given up: 503 temporarily_unavailable, since what
 * became of it is not known.
 */
export const admissionObject = (ctx: Ctx, name: string): AdmissionRpc => inTime(ctx, ctx.env.ADMISSION.getByName(name));

/** The same for the object of an entitlement. */
export const entitlementObject = (ctx: Ctx, name: string): EntitlementRpc => inTime(ctx, ctx.env.ENTITLEMENT.getByName(name));

type Calls = Record<string, (...args: unknown[]) => Promise<unknown>>;

function inTime<Rpc extends object>(ctx: Ctx, object: Rpc): Rpc {
  const call = async (method: string, args: unknown[]) => {
    const tooLate = () => new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
    if (ctx.leftMs() === 0) throw tooLate();
    const answer = (object as Calls)[method]!(...args);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(tooLate()), ctx.leftMs());
    });
    return Promise.race([answer, deadline]).finally(() => clearTimeout(timer));
  };
  return new Proxy({} as Rpc, {
    get:
      (_, method: string) =>
      (...args: unknown[]) =>
        call(method, args),
  });
}
