import {
  type Address,
  addSignersToInstruction,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { base64 } from '#core/encoding.ts';
import { checkConsent } from '#solana/programs/subscriptions/consents.ts';
import * as build from '#solana/programs/subscriptions/instructions.ts';
import { buildPlanTransaction, draftPlan, findDifferences, isPeriod, type ProductPlan } from '#solana/programs/subscriptions/publishing.ts';
import { decodePlan, type SubscriptionPlan } from '#solana/programs/subscriptions/subscription.ts';
import { newAddress, USDC } from '../chain/wallets.ts';
import { openProgramChain, type ProgramChain, useServer } from './program-chain.ts';
import { openPlan, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();

const productPlan = async (change: Partial<ProductPlan> = {}): Promise<ProductPlan> => ({
  productId: '01900000-0000-7000-8000-000000000001',
  mint: USDC,
  amount: 5_000_000n,
  periodDays: 30,
  merchant: await newAddress(),
  puller: await newAddress(),
  page: 'https://svc.example/p/weather',
  ...change,
});

const readPlan = async (on: ProgramChain, address: Address): Promise<SubscriptionPlan> => {
  const decoded = decodePlan((await on.dataOf(address)) ?? new Uint8Array());
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.value;
};

describe('plan of a product', () => {
  it('the merchant only signs the transaction, and the published plan equals the draft field by field', async () => {
    const on = await openProgramChain(server());
    const merchant = await on.openWallet();
    const draft = draftPlan(await productPlan({ merchant: merchant.address }));
    const { value: lifetime } = await on.chain.rpc.getLatestBlockhash().send();
    const unsigned = getTransactionDecoder().decode(base64.decode(buildPlanTransaction(draft, lifetime)));
    const signed = await partiallySignTransaction([merchant.keyPair], unsigned);
    const wire = base64.encode(Uint8Array.from(getTransactionEncoder().encode(signed)));
    await on.chain.rpc.sendTransaction(wire as never, { encoding: 'base64' }).send();
    const plan = await readPlan(on, draft.address);
    expect([findDifferences(plan, draft.plan), plan.status, plan.periodHours]).toEqual([[], 'active', 720n]);
  });

  it('equal terms give the same plan and different terms another, independent of the page', async () => {
    const terms = await productPlan();
    const address = (change: Partial<ProductPlan>) => draftPlan({ ...terms, ...change }).address;
    expect(address({ page: 'https://other.example' })).toBe(address({}));
    const others: Partial<ProductPlan>[] = [
      { amount: 5_000_001n },
      { periodDays: 31 },
      { merchant: await newAddress() },
      { puller: await newAddress() },
      { productId: '01900000-0000-7000-8000-000000000002' },
    ];
    expect(new Set([address({}), ...others.map(address)]).size).toBe(others.length + 1);
  });

  it('the product page is the metadata if it is short enough', async () => {
    const metadata = async (page: string) => draftPlan(await productPlan({ page })).plan.metadataUri;
    expect((await metadata('x'.repeat(128))).length).toBe(128);
    expect([await metadata('x'.repeat(129)), await metadata('ü'.repeat(65))]).toEqual(['', '']);
  });

  it('periods are 1 to 365 full days', () => {
    expect([null, 0, 1, 30, 365, 366].map(isPeriod)).toEqual([false, false, true, true, true, false]);
  });

  it('every difference of a published plan from its draft is named', async () => {
    const { plan } = draftPlan(await productPlan());
    const published: SubscriptionPlan = { ...plan, bump: 255, status: 'active', createdAt: 1n };
    const other = await newAddress();
    const changes = {
      owner: { owner: other },
      plan_id: { planId: plan.planId ^ 1n },
      mint: { mint: other },
      amount: { amount: plan.amount + 1n },
      period_hours: { periodHours: plan.periodHours - 1n },
      end: { endTs: 1n },
      destinations: { destinations: [] },
      pullers: { pullers: [...plan.pullers, other] },
      metadata: { metadataUri: '' },
    } as const;
    const names = Object.keys(changes) as (keyof typeof changes)[];
    fc.assert(
      fc.property(fc.subarray(names), (changed) => {
        const different = Object.assign({}, published, ...changed.map((name) => changes[name]));
        expect(findDifferences(different, plan)).toEqual(changed);
      }),
    );
  });
});

describe('buyer-signed transaction', () => {
  let world: SubscriptionWorld;
  let other: SubscriptionWorld;
  beforeAll(async () => {
    const on = await openProgramChain(server());
    world = await openPlan(on);
    other = await openPlan(on);
  });

  async function sign(signer: KeyPairSigner, ...instructions: Instruction[]): Promise<Uint8Array> {
    const { value: lifetime } = await world.on.chain.rpc.getLatestBlockhash().send();
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayerSigner(signer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) =>
        appendTransactionMessageInstructions(
          instructions.map((one) => addSignersToInstruction([signer], one)),
          draft,
        ),
    );
    return base64.decode(getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message)));
  }

  const judge = async (wire: Uint8Array) => {
    const route = { plan: world.plan, subscriber: world.people.buyer.address, mint: USDC };
    const checked = checkConsent(wire, route, await world.readPlan());
    return checked.ok ? checked.value.names : checked.reason;
  };
  const byBuyer = async (...instructions: Instruction[]) => judge(await sign(world.people.buyer, ...instructions));

  it('the transaction is identified by its instructions, whatever a wallet adds for protection', async () => {
    expect(await byBuyer(build.initAuthorityInstruction(world.owner))).toEqual(['initAuthority']);
    expect(await byBuyer(await world.subscribing())).toEqual(['subscribe']);
    const price = getSetComputeUnitPriceInstruction({ microLamports: 5n });
    expect(await byBuyer(price, build.cancelInstruction(world.parties))).toEqual(['cancel']);
    expect(await byBuyer(build.revokeInstruction(world.parties), await world.subscribing())).toEqual(['revoke', 'subscribe']);
    expect(await byBuyer(build.resumeInstruction(world.parties, USDC))).toEqual(['resume']);
  });

  it('another wallet, subscription, terms or additional instruction is refused', async () => {
    const { buyer, sponsor } = world.people;
    const tip = getTransferSolInstruction({ source: buyer, destination: sponsor.address, amount: 1n });
    expect(await judge(await sign(other.people.buyer, build.cancelInstruction(other.parties)))).toBe('foreign_wallet');
    expect(await byBuyer(build.cancelInstruction({ ...world.parties, plan: other.plan }))).toBe('foreign_subscription');
    expect(await byBuyer(await world.subscribing({ amount: 101n }))).toBe('terms');
    expect(await byBuyer(build.cancelInstruction(world.parties), tip)).toBe('foreign_instruction');
    expect(await byBuyer(build.closeAuthorityInstruction(world.owner))).toBe('foreign_instruction');
    expect(await byBuyer(getSetComputeUnitPriceInstruction({ microLamports: 5n }))).toBe('nothing');
  });

  it('an unsigned, truncated or altered transaction is refused', async () => {
    const wire = await sign(world.people.buyer, build.cancelInstruction(world.parties));
    expect(await judge(wire.slice(0, 100))).toBe('undecodable');
    expect(await judge(Uint8Array.from(wire, (byte, index) => (index >= 1 && index <= 64 ? 0 : byte)))).toBe('unsigned');
    const bent = Uint8Array.from(wire);
    bent[1]! ^= 1;
    expect(await judge(bent)).toBe('unsigned');
  });
});
