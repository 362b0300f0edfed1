import { runInDurableObject } from 'cloudflare:test';
import { entitlementIdOf } from '#core/ids.ts';
import type { Job } from '#platform/context.ts';
import type { Addition, EntitlementKey } from '#rules/balance.ts';
import {
  type ConsumeAnswer,
  type Credit,
  type CreditAnswer,
  type EntitlementProjection,
  type GrantAnswer,
  type Operation,
  projectedOf,
  type RefundAnswer,
} from '#rules/entitlement-rpc.ts';
import { testEnv } from '../runner/env.ts';
import type { World } from '../world.ts';

export type Holder = ReturnType<typeof newHolder>;
type Stub = ReturnType<typeof testEnv.ENTITLEMENT.getByName>;

/** A customer of nobody else, with the calls of the Worker in short. The fingerprint is the input, as in life. */
export function newHolder() {
  const merchantId = crypto.randomUUID();
  const customer = { customerRef: 'customer-1' };
  const entitlementId: string = entitlementIdOf(merchantId, true, 'product-1', customer);
  const identity: EntitlementKey = { entitlementId, merchantId, livemode: true, productId: 'product-1', customer };
  const name = `${merchantId}:live:${entitlementId}`;
  const newStub = () => testEnv.ENTITLEMENT.getByName(name);
  const holder = { identity, stub: newStub() };
  const operation = <T>(key: string, input: T, now: number): Operation<T> => {
    return { identity, key, fingerprint: JSON.stringify(input), now, input };
  };
  return Object.assign(holder, {
    /** After the object broke, a stub of it is broken too. */
    reconnect: () => {
      holder.stub = newStub();
    },
    consume: async (key: string, units = 1, now = Date.now()): Promise<ConsumeAnswer> =>
      holder.stub.consume(operation(key, { units }, now)),
    grant: async (key: string, addition: Addition, now = Date.now()): Promise<GrantAnswer> =>
      holder.stub.grant(operation(key, { addition, reason: 'test' }, now)),
    refund: async (key: string, consumptionId: string, now = Date.now()): Promise<RefundAnswer> =>
      holder.stub.refund(operation(key, { consumptionId, reason: 'test' }, now)),
    credit: async (paymentId: string, addition: Addition, consume: Credit['consume'] = null, now = Date.now()): Promise<CreditAnswer> =>
      holder.stub.credit({ identity, paymentId, addition, consume, now }),
    revoke: (paymentId: string, now = Date.now()) => holder.stub.revoke({ identity, paymentId, paymentVersion: 1, now }),
    reinstate: (paymentId: string, now = Date.now()) => holder.stub.reinstate({ identity, paymentId, paymentVersion: 1, now }),
    finalize: (paymentIds: string[], now = Date.now()) => holder.stub.finalize({ paymentIds, now }),
    read: async (now = Date.now()) => holder.stub.read({ now }),
  });
}

export interface SentJobs {
  sent: EntitlementProjection[];
  /** The same, as the queue got it. */
  messages: Job[];
  isFailing: boolean;
  /** The database has what was sent since the last time. */
  acknowledge(): Promise<void>;
}

/** What the object sends to the queue from now on, until it is evicted; sending can be made to fail. */
export async function interceptJobs(stub: Stub): Promise<SentJobs> {
  let acknowledged = 0;
  const jobs: SentJobs = {
    sent: [],
    messages: [],
    isFailing: false,
    acknowledge: async () => {
      for (; acknowledged < jobs.sent.length; acknowledged++) await stub.published(projectedOf(jobs.sent[acknowledged]!));
    },
  };
  const send = async (job: Job) => {
    if (jobs.isFailing) throw new Error('the queue is down');
    jobs.messages.push(job);
    if (job.kind === 'projectEntitlement') jobs.sent.push(job.projection);
  };
  await runInDurableObject(stub, (instance) => {
    Object.assign(instance, { env: { ...testEnv, JOBS: { send }, SANDBOX: { send } } });
  });
  return jobs;
}

/** Brings all that an object sends from now on, until it is evicted, to the queues of a world. Its alarm rings by itself. */
export const joinQueues = ({ env: { JOBS, SANDBOX } }: Pick<World, 'env'>, stub: DurableObjectStub<undefined>): Promise<void> =>
  runInDurableObject(stub, (instance) => void Object.assign(instance, { env: { ...testEnv, JOBS, SANDBOX } }));

/** Our own tables; those of the platform begin with an underscore. */
export const tablesOf = (stub: Stub) =>
  runInDurableObject(stub, (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('_')),
  );

export const alarmOf = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => storage.getAlarm());

/** The object sends nothing to the queue any more, unless something changes again. */
export const silence = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => storage.deleteAlarm());

/** Kills the object where it stands: what is not committed is lost, and calls on their way fail. */
export async function abort(holder: Holder): Promise<void> {
  await runInDurableObject(holder.stub, (_, state) => state.abort('killed by the test')).catch(() => null);
  holder.reconnect();
}

/** As an SDK does: the same call with the same key until somebody answers. */
export async function untilAnswered<T>(holder: Holder, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt === 5) throw error;
      holder.reconnect();
    }
  }
}
