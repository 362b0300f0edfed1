import { z } from '@hono/zod-openapi';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unknownFields } from '#platform/http/refuse-invalid.ts';

const Customer = z.union([z.object({ wallet_address: z.string() }), z.object({ customer_ref: z.string() })]);
const Body = z
  .object({
    name: z.string(),
    payout_wallet: z.string().optional(),
    price: z.object({ asset: z.string(), amount: z.string() }).nullable().optional(),
    lines: z.array(z.object({ url: z.string() })).default([]),
    customer: Customer.optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    protocol: z.looseObject({ version: z.number() }).optional(),
    anything: z.unknown(),
  })
  .refine(({ name }) => name !== 'refused')
  .openapi('BodyOfATest');
const stray = (body: unknown) => unknownFields(Body, body);

describe('unknownFields', () => {
  it('a body of known fields has none, however nested', () => {
    const customer = { wallet_address: 'a', customer_ref: 'b' };
    const body = { name: 'x', price: { asset: 'USDC', amount: '1' }, lines: [{ url: 'u' }], customer, metadata: { any: 'x' } };
    expect(stray(body)).toEqual([]);
    expect(stray({ name: 1, price: null, lines: {}, customer: 'x', metadata: [], protocol: 0, anything: { a: { b: 1 } } })).toEqual([]);
    expect(stray({ protocol: { version: 2, extra: { deep: 1 } } })).toEqual([]);
  });

  it('an unknown field is reported with its path and the nearest known name, in objects, lists and unions', () => {
    expect(stray({ payoutWallet: 'a' })).toEqual([{ path: ['payoutWallet'], nearest: 'payout_wallet' }]);
    expect(stray({ price: { asset: 'USDC', amout: '1' } })).toEqual([{ path: ['price', 'amout'], nearest: 'amount' }]);
    expect(stray({ lines: [{ url: 'u' }, { urls: 'u' }] })).toEqual([{ path: ['lines', 1, 'urls'], nearest: 'url' }]);
    expect(stray({ customer: { customer_reff: 'x' } })).toEqual([{ path: ['customer', 'customer_reff'], nearest: 'customer_ref' }]);
    expect(stray({ whatever: 1, name: 'x' })).toEqual([{ path: ['whatever'] }]);
  });

  it('names inherited by every object are unknown fields', () => {
    const body: unknown = JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1, "toString": 2}');
    expect(stray(body).map(({ path }) => path)).toEqual([['__proto__'], ['constructor'], ['toString']]);
  });

  it('a nearest name is within three edits and half of the written name', () => {
    const near = (name: string) => stray({ [name]: 1 })[0]?.nearest;
    expect(near('nam')).toBe('name');
    expect(near('na')).toBeUndefined();
    expect(near('payout_walletxyz')).toBe('payout_wallet');
    expect(near('payout_walletwxyz')).toBeUndefined();
  });

  it('a typo of one character names the intended field', () => {
    const known = Object.keys(Body.shape).filter((name) => name.length >= 4);
    const slip = fc.record({ name: fc.constantFrom(...known), at: fc.nat(3), letter: fc.constantFrom('q', 'Z', '-') });
    fc.assert(
      fc.property(slip, ({ name, at, letter: character }) => {
        for (const written of [name.slice(0, at) + character + name.slice(at), name.slice(0, at) + character + name.slice(at + 1)])
          expect(stray({ [written]: 1 })).toEqual([{ path: [written], nearest: name }]);
      }),
    );
  });

  it('the report lists at most twenty unknown fields, however many there are', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`payout_wallet${i}`, i]));
    expect(stray(many)).toHaveLength(20);
    expect(stray({ lines: Array.from({ length: 5000 }, () => many) })).toHaveLength(20);
  });
});
