import { runInDurableObject } from 'cloudflare:test';
import { entitlementIdOf } from '#core/ids.ts';
import type { Job } from '#platform/context.ts';
import type { Addition, EntitlementKey, EntitlementSnapshot } from '#rules/balance.ts';
import {
  type ConsumeAnswer,
  type CreditAnswer,
  type EntitlementProjection,
  type GrantAnswer,
  type KeyedUse,
  type Operation,
  projectedOf,
  type RefundAnswer,
} from '#rules/entitlement-rpc.ts';
import { testEnv } from '../runner/env.ts';
import type { World } from '../world.ts';

export type Holder = ReturnType<typeof newHolder>;
type Stub = ReturnType<typeof testEnv.ENTITLEMENT.getByName>;

/** Customer of its own, with short calls of the Worker. The fingerprint is the input, as in production. */
export function newHolder({ merchantId = crypto.randomUUID() as string, customerRef = 'customer-1' } = {}) {
  const customer = { customerRef };
  const entitlementId: string = entitlementIdOf(merchantId, true, 'product-1', customer);
  const identity: EntitlementKey = { entitlementId, merchantId, livemode: true, productId: 'product-1', customer };
  const name = `${merchantId}:live:${entitlementId}`;
  const newStub = () => testEnv.ENTITLEMENT.getByName(name);
  const holder = { identity, stub: newStub() };
  const operation = <T>(key: string, input: T, now: number): Operation<T> => {
    return { identity, key, fingerprint: JSON.stringify(input), now, input };
  };
  return Object.assign(holder, {
    /** Replaces the stub, which is broken after its object broke. */
    reconnect: () => {
      holder.stub = newStub();
    },
    consume: async (key: string, units = 1, now = Date.now()): Promise<ConsumeAnswer> =>
      holder.stub.consume(operation(key, { units }, now)),
    /** Consumes one unit by a sign-in. Null: one that is no longer valid. */
    consumeBy: async (nonce: string | null, key: string, now = Date.now()): Promise<ConsumeAnswer> => {
      const { fingerprint } = operation(key, { units: 1 }, now);
      return holder.stub.consume({ ...operation(key, { units: 1, nonce }, now), fingerprint });
    },
    grant: async (key: string, addition: Addition, now = Date.now()): Promise<GrantAnswer> =>
      holder.stub.grant(operation(key, { addition, reason: 'test' }, now)),
    refund: async (key: string, consumptionId: string, now = Date.now()): Promise<RefundAnswer> =>
      holder.stub.refund(operation(key, { consumptionId, reason: 'test' }, now)),
    credit: async (paymentId: string, addition: Addition, use: Pick<KeyedUse, 'key' | 'units'> | null = null, now = Date.now()) =>
      (await holder.stub.credit({ identity, paymentId, addition, consume: use && { ...use, isAnswered: false }, now })) as CreditAnswer,
    revoke: (paymentId: string, now = Date.now()) => holder.stub.revoke({ identity, paymentId, paymentVersion: 1, now }),
    reinstate: (paymentId: string, now = Date.now()) => holder.stub.reinstate({ identity, paymentId, paymentVersion: 1, now }),
    finalize: (paymentIds: string[], now = Date.now()) => holder.stub.finalize({ paymentIds, now }),
    read: async (now = Date.now()) => holder.stub.read({ now }),
  });
}

type StoredUse = [snapshot: EntitlementSnapshot, cause?: string];

export interface SentJobs {
  sent: EntitlementProjection[];
  /** Balances after uses alone, which need no message. */
  stored: EntitlementSnapshot[];
  messages: Job[];
  isFailing: boolean;
  /** Handles uses alone: the test records them, the database refuses them, or they are stored as in production. */
  uses: 'recorded' | 'refused' | 'stored';
  /** Acknowledges everything sent since the last call. */
  acknowledge(): Promise<void>;
}

/** Intercepts the jobs of an object until its eviction. Sending can be made to fail. */
export async function interceptJobs(stub: Stub, env: object = testEnv): Promise<SentJobs> {
  let acknowledged = 0;
  const jobs: SentJobs = {
    sent: [],
    stored: [],
    messages: [],
    isFailing: false,
    uses: 'recorded',
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
    const { storeUses: store } = Object.getPrototypeOf(instance) as { storeUses(...use: StoredUse): Promise<boolean> };
    const storeUses = async (...use: StoredUse) => {
      if (jobs.uses === 'stored') return store.apply(instance, use);
      if (jobs.uses === 'recorded') jobs.stored.push(use[0]);
      return jobs.uses === 'recorded';
    };
    Object.assign(instance, { env: { ...env, JOBS: { send }, SANDBOX: { send } }, storeUses });
  });
  return jobs;
}

/** Forwards all jobs of an object to a world's queues until its eviction. The alarm rings by itself. */
export const joinQueues = ({ env }: Pick<World, 'env'>, stub: DurableObjectStub<undefined>): Promise<void> =>
  runInDurableObject(stub, (instance) => void Object.assign(instance, { env }));

/** Our own tables. Tables of the platform begin with an underscore. */
export const listTables = (stub: Stub) =>
  runInDurableObject(stub, (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('_')),
  );

export const readAlarm = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => storage.getAlarm());

/** Stops the object's notifications until its next change. */
export const silence = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => storage.deleteAlarm());

/** Aborts the object: uncommitted writes are lost and running calls fail. */
export async function abort(holder: Holder): Promise<void> {
  await runInDurableObject(holder.stub, (_, state) => state.abort('killed by the test')).catch(() => null);
  holder.reconnect();
}

/** Repeats a call with its key until an answer arrives, as an SDK does. */
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
