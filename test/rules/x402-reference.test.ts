import { type Address, address, type Instruction } from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import { verifyExact } from '#protocols/x402/exact.ts';
import type { PaymentPayload, PaymentRequirements } from '#protocols/x402/wire.ts';
import { PAYMENTS } from './x402-cases.ts';
import { craft, FEE_PAYER, foreign, lighthouse, MEMO, memoOf, newRig, type Rig, RULES, withTransaction } from './x402-payments.ts';
import { VIOLATIONS } from './x402-violations.ts';

/** Unmodified reference facilitator with its own cap of the price, and our limits otherwise. Its chain simulates every transaction successfully. */
const unused = () => Promise.reject(new Error('verification neither signs nor sends'));
const facilitator = new ExactSvmScheme(
  {
    getAddresses: () => RULES.feePayers.map((key) => address(key)) as Address[],
    simulateTransaction: () => Promise.resolve(),
    signTransaction: unused,
    sendTransaction: unused,
    confirmTransaction: unused,
  },
  undefined,
  { maxRequiredSignatures: 2, maxComputeUnits: 400_000 },
);
const PREFIX = 'invalid_exact_svm_';

async function theirs(payload: PaymentPayload, requirements: PaymentRequirements): Promise<{ verdict: string; payer?: string }> {
  type Asked = Parameters<typeof facilitator.verify>;
  try {
    const answer = await facilitator.verify(payload as Asked[0], requirements as Asked[1]);
    return { verdict: answer.isValid ? 'accepts' : answer.invalidReason!.replace(PREFIX, ''), payer: answer.payer };
  } catch {
    return { verdict: 'throws' };
  }
}
async function ours(payload: PaymentPayload, requirements: PaymentRequirements): Promise<{ verdict: string; payer?: string }> {
  const answer = await verifyExact(payload, requirements, RULES);
  if (answer.ok) return { verdict: 'accepts', payer: answer.value.payer };
  return { verdict: answer.reason.replace(PREFIX, ''), payer: answer.payer };
}

let rig: Rig;
beforeAll(async () => {
  rig = await newRig();
});

describe('reference facilitator', () => {
  it.each(PAYMENTS)('the reference accepts a payment $name, as we do', async ({ make }) => {
    const { payload, requirements } = await make(rig);
    expect(await theirs(payload, requirements)).toEqual({ verdict: 'accepts', payer: rig.payer.address });
    expect(await ours(payload, requirements)).toEqual({ verdict: 'accepts', payer: rig.payer.address });
  });

  it.each(VIOLATIONS.filter(({ reference }) => !reference))(
    'the reference refuses for the same reason: $name',
    async ({ make, reason }) => {
      const { payload, requirements } = await make(rig);
      expect((await theirs(payload, requirements)).verdict).toBe(reason);
    },
  );

  it.each(VIOLATIONS.filter(({ reference }) => reference))(
    'the reference is less strict or less specific: $name',
    async ({ make, reference }) => {
      const { payload, requirements } = await make(rig);
      expect((await theirs(payload, requirements)).verdict).toBe(reference);
    },
  );
});

describe('reference facilitator, random instructions', () => {
  const STRICTER = 'payload_transaction_fee_payer_included_in_instruction_accounts';

  it('our verdict equals the reference’s, except for our stricter rules', async () => {
    const menu = (): Instruction[] => [
      ...rig.instructions,
      ...rig.instructions,
      lighthouse(),
      lighthouse(FEE_PAYER),
      memoOf(utf8('hello')),
      foreign(),
    ];
    const picks = fc.array(fc.nat(11), { maxLength: 9 });
    const nearly = fc.array(fc.nat(11), { maxLength: 3 }).map((more) => [0, 1, 2, 3, ...more]);
    let [accepted, refused] = [0, 0];
    const property = fc.asyncProperty(fc.oneof(picks, nearly, nearly), async (indices) => {
      const all = menu();
      const instructions = indices.map((index) => all[index]!);
      const payload = withTransaction(rig, await craft(rig, { instructions }));
      const [us, them] = [await ours(payload, rig.requirements), await theirs(payload, rig.requirements)];
      if (us.verdict === 'accepts') {
        accepted++;
        expect(instructions.filter((ix) => ix.data && new TextDecoder().decode(Uint8Array.from(ix.data)) === MEMO)).toHaveLength(1);
      } else refused++;
      if (us.verdict !== them.verdict) expect([them.verdict, us.verdict]).toEqual(['accepts', STRICTER]);
    });
    await fc.assert(property, { numRuns: 400 });
    expect(Math.min(accepted, refused)).toBeGreaterThan(10);
  });
});
