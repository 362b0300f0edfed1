import { runDurableObjectAlarm } from 'cloudflare:test';
import { entitlementIdOf } from '#core/ids.ts';
import { interceptJobs } from '../clients/entitlement.ts';
import { testEnv } from '../runner/env.ts';
import type { Merchant, World } from '../world.ts';

/** Watches the entitlement of a customer, by the reference or the key. Returns a function that stores its copy, with its events. */
export async function watchCopy(
  w: World,
  { userId }: Merchant,
  productId: string,
  customer: string | { walletAddress: string },
): Promise<() => Promise<void>> {
  const id = entitlementIdOf(userId, true, productId, typeof customer === 'string' ? { customerRef: customer } : customer);
  const stub = testEnv.ENTITLEMENT.getByName(`${userId}:live:${id}`);
  const jobs = await interceptJobs(stub, w.env);
  jobs.uses = 'stored';
  return async () => {
    await runDurableObjectAlarm(stub);
    await w.deliver(jobs.sent.map((projection) => ({ kind: 'projectEntitlement', projection })));
  };
}
