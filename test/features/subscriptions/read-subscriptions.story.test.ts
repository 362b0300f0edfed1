import { address, type KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { readSubscriptions } from '#features/subscriptions/read-subscriptions.ts';
import { newCtx } from '#platform/context.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { buildCollection } from '#solana/programs/subscriptions/collection.ts';
import { cancelInstruction, closeAuthorityInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { type DraftPlan, draftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { USDC } from '../../support/chain/chain.ts';
import { publishPlan, Subscriber } from '../../support/people/subscriber.ts';
import { World } from '../../support/world.ts';

const w = new World();
const operator = keyRing(base64url.encode(new Uint8Array(32).fill(93)))[0]!;
const PULLER = address(base58.encode(operator.publicKey));

const ctxNow = (env = w.env, notes: string[] = []) =>
  newCtx(env, { requestId: 'req_look', defer: () => {}, note: (reason) => notes.push(reason) });

describe('reading subscriptions from the chain', () => {
  let merchant: KeyPairSigner;
  let draft: DraftPlan;
  const open = (usdc?: bigint) => Subscriber.subscribe(w.chain, draft, usdc);
  const readStates = async (...subscribers: Subscriber[]) => {
    const readings = await readSubscriptions(
      ctxNow(),
      subscribers.map(({ route }) => route),
    );
    return readings.map((reading) => reading && ('reason' in reading.state ? reading.state.reason : reading.state.kind));
  };
  beforeAll(async () => {
    merchant = await w.chain.wallet(0n);
    const terms = { productId: 'p', mint: address(USDC), amount: 5_000_000n, periodDays: 30, page: 'https://svc.test/p/x' };
    draft = draftPlan({ ...terms, merchant: merchant.address, puller: PULLER });
    await publishPlan(w.chain, merchant, draft);
    await w.chain.call('local_fundSol', PULLER, '1000000000');
  });

  it('each reading states the latest action of its buyer, also one made outside the service', async () => {
    const [ready, poor, cancelled, closed] = [await open(), await open(4_999_999n), await open(), await open()];
    await cancelled.send(cancelInstruction(cancelled.route));
    await closed.send(
      closeAuthorityInstruction({ user: closed.wallet.address, mint: address(USDC), tokenProgram: address(TOKEN_PROGRAM) }),
    );
    const stranger = new Subscriber(w.chain, await w.chain.wallet(), draft);
    expect(await readStates(ready, poor, cancelled, closed, stranger)).toEqual([
      'collectable',
      'insufficient_funds',
      'cancelled',
      'authority_gone',
      'subscription_gone',
    ]);
  });

  it('a period is paid by the collector’s transaction, and a second one fails', async () => {
    const subscriber = await open();
    const collect = async () => {
      const prepared = await ctxNow().chain.prepare([]);
      if (prepared.kind !== 'ready') throw new Error(prepared.reason);
      const collection = { route: subscriber.route, amount: 5_000_000n, memo: `svc:${crypto.randomUUID()}`, references: [] };
      return buildCollection(collection, prepared.lifetime, operator);
    };
    expect(await ctxNow().chain.sendTransaction(await collect())).toEqual({ kind: 'sent' });
    expect(await readStates(subscriber)).toEqual(['paid']);
    expect((await ctxNow().chain.simulate(await collect())).kind).toBe('failed');
    expect(await w.chain.held(merchant.address)).toBe(5_000_000n);
  });

  it('forty-one subscriptions take three calls, each with its own accounts', async () => {
    const [ready, poor] = [await open(), await open(1n)];
    const routes = Array.from({ length: 41 }, (_, at) => (at % 2 === 0 ? ready : poor).route);
    let calls = 0;
    const { chain, ...ctx } = ctxNow();
    const counted = Object.assign(Object.create(chain), {
      readAccounts: (addresses: string[]) => {
        calls += 1;
        expect(addresses.length).toBeLessThanOrEqual(100);
        return chain.readAccounts(addresses);
      },
    });
    const readings = await readSubscriptions({ ...ctx, chain: counted }, routes);
    expect(calls).toBe(3);
    expect(readings.map((reading) => reading?.state.kind)).toEqual(routes.map((_, at) => (at % 2 === 0 ? 'collectable' : 'short')));
    expect(readings.map((reading) => reading?.sight.subscription?.subscriber)).toEqual(routes.map(({ subscriber }) => subscriber));
  });

  it('an unavailable node yields no conclusion', async () => {
    const notes: string[] = [];
    const ctx = ctxNow({ ...w.env, RPC_URL: 'http://127.0.0.1:1/' } as typeof w.env, notes);
    const { route } = new Subscriber(w.chain, merchant, draft);
    expect(await readSubscriptions(ctx, [route])).toEqual([null]);
    expect(notes[0]).toMatch(/^rpc: /);
    expect(await readSubscriptions(ctx, [])).toEqual([]);
  });
});
