import { getBase58Decoder, getTransactionDecoder } from '@solana/kit';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { verifyEd25519 } from '#core/crypto.ts';
import { base64 } from '#core/encoding.ts';
import { coSign, verifyExact } from '#protocols/x402/exact.ts';
import type { PaymentPayload, PaymentRequirements } from '#protocols/x402/wire.ts';
import { PAYMENTS } from './x402-cases.ts';
import {
  chain,
  craft,
  FEE_PAYER,
  findAta,
  MEMO,
  messageOf,
  newRig,
  OPERATOR,
  PRICE,
  payWith,
  type Rig,
  RULES,
  SECOND_OPERATOR,
  wireOf,
  withTransaction,
} from './x402-payments.ts';
import { VIOLATIONS } from './x402-violations.ts';

const PREFIX = 'invalid_exact_svm_';
let rig: Rig;
beforeAll(async () => {
  rig = await newRig();
});

const verdict = async (payload: PaymentPayload, requirements: PaymentRequirements = rig.requirements): Promise<string> => {
  const verified = await verifyExact(payload, requirements, RULES);
  return verified.ok ? 'ok' : verified.reason;
};
const verified = async (payload: PaymentPayload = rig.payload, requirements = rig.requirements) => {
  const answer = await verifyExact(payload, requirements, RULES);
  if (!answer.ok) throw new Error(answer.reason);
  return answer.value;
};

describe('payment by the unmodified @x402 client', () => {
  it('a payment is accepted and read correctly', async () => {
    const wire = wireOf(rig.payload);
    expect(await verified()).toEqual({
      wire,
      messageBytes: messageOf(wire),
      signatures: [new Uint8Array(64), wire.slice(65, 129)],
      feePayer: FEE_PAYER,
      payer: rig.payer.address,
      source: await findAta(rig.payer.address, rig.requirements.asset),
      amount: PRICE,
      memo: MEMO,
      blockhash: expect.any(String),
    });
  });

  it('a co-signed payment lands on chain under the predicted signature', async () => {
    await chain.call('local_fundSol', FEE_PAYER, '1000000000');
    await chain.call('local_fundUsdc', rig.merchant, '1');
    const payment = await verified(await payWith(rig.payer, rig.requirements));
    const { wire, txSignature } = coSign(payment, OPERATOR);
    expect(await chain.call('sendTransaction', base64.encode(wire), { encoding: 'base64' })).toBe(txSignature);
    const ata = await findAta(rig.merchant, rig.requirements.asset);
    const balance = await chain.call<{ value: { amount: string } }>('getTokenAccountBalance', ata, { commitment: 'processed' });
    expect(balance.value.amount).toBe((PRICE + 1n).toString());
  });

  it.each(PAYMENTS)('a payment is accepted $name', async ({ make }) => {
    const { payload, requirements } = await make(rig);
    expect(await verdict(payload, requirements)).toBe('ok');
  });
});

describe('payments refused by the checklist', () => {
  it.each(VIOLATIONS)('a payment is refused, item $name', async ({ make, reason }) => {
    const { payload, requirements } = await make(rig);
    expect(await verdict(payload, requirements)).toBe(PREFIX + reason);
  });

  it('a refusal names the payer once it is known', async () => {
    for (const { name, make, reason } of VIOLATIONS) {
      const { payload, requirements } = await make(rig);
      const answer = await verifyExact(payload, requirements, RULES);
      const step = Number(/^\d+/.exec(name)?.[0] ?? 19);
      expect(answer.ok || answer.payer, `${name} ${reason}`).toEqual(step > 12 ? expect.any(String) : undefined);
    }
  });

  it('any bytes are refused without throwing', async () => {
    const check = async (bytes: Uint8Array) => {
      expect(await verdict(withTransaction(rig, base64.encode(bytes)))).toMatch(/^invalid_exact_svm_/);
    };
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 1300 }), check), { numRuns: 300 });
    const wire = wireOf(rig.payload);
    for (let length = 0; length < wire.length; length++) await check(wire.slice(0, length));
    const splice = fc.tuple(fc.nat(wire.length), fc.nat(8), fc.uint8Array({ minLength: 1, maxLength: 8 }));
    await fc.assert(
      fc.asyncProperty(splice, async ([at, cut, bytes]) => {
        const changed = Uint8Array.from([...wire.slice(0, at), ...bytes, ...wire.slice(at + cut)]);
        const isOurSlot = changed.length === wire.length && changed.every((byte, i) => byte === wire[i] || (i > 0 && i < 65));
        if (!isOurSlot) await check(changed);
      }),
      { numRuns: 300 },
    );
  });
});

describe('single byte changes', () => {
  it('any changed byte of the message or the payer’s signature is refused', async () => {
    const wire = wireOf(rig.payload);
    const flip = async (at: number, mask: number) => {
      const flipped = wire.with(at, wire[at]! ^ mask);
      expect(await verdict(withTransaction(rig, base64.encode(flipped))), `byte ${at} ^ ${mask}`).toMatch(/^invalid_exact_svm_/);
    };
    for (const at of [0, ...Array.from({ length: wire.length - 65 }, (_, i) => 65 + i)]) await flip(at, 1 << (at % 8));
    const anywhere = fc.asyncProperty(fc.integer({ min: 65, max: wire.length - 1 }), fc.integer({ min: 1, max: 255 }), flip);
    await fc.assert(anywhere, { numRuns: 300 });
  });

  it('a changed byte in our signature slot has no effect, because the slot is overwritten', async () => {
    const [wire, before] = [wireOf(rig.payload), await verified()];
    for (const at of [1, 32, 64]) {
      const after = await verified(withTransaction(rig, base64.encode(wire.with(at, 0xff))));
      expect(after.messageBytes).toEqual(before.messageBytes);
      expect(coSign(after, OPERATOR)).toEqual(coSign(before, OPERATOR));
    }
  });
});

describe('facilitator signature', () => {
  it('a message has one signature, so that a claim of the signature is a claim of the message', async () => {
    const [first, second] = [coSign(await verified(), OPERATOR), coSign(await verified(), OPERATOR)];
    expect(second.txSignature).toBe(first.txSignature);
    const other = await verified(withTransaction(rig, await craft(rig, { instructions: rig.instructions, version: 'legacy' })));
    expect(coSign(other, OPERATOR).txSignature).not.toBe(first.txSignature);
  });

  it('the signature covers the exact received bytes, and only slot 0 changes', async () => {
    for (const version of [0, 'legacy'] as const) {
      const payment = await verified(withTransaction(rig, await craft(rig, { instructions: rig.instructions, version })));
      const { wire, txSignature } = coSign(payment, OPERATOR);
      expect(messageOf(wire)).toEqual(payment.messageBytes);
      expect(wire.slice(65)).toEqual(payment.wire.slice(65));
      const { signatures } = getTransactionDecoder().decode(wire);
      const ours = Uint8Array.from(Object.values(signatures)[0]!);
      expect(Object.keys(signatures)).toEqual([FEE_PAYER, rig.payer.address]);
      expect(verifyEd25519(ours, payment.messageBytes, OPERATOR.publicKey)).toBe(true);
      expect(txSignature).toBe(getBase58Decoder().decode(ours));
      expect(payment.wire.slice(1, 65)).toEqual(new Uint8Array(64));
    }
  });

  it('the signature is made only by the key of slot 0', async () => {
    const payment = await verified();
    expect(() => coSign(payment, SECOND_OPERATOR)).toThrow('the fee payer signs for itself');
  });
});
