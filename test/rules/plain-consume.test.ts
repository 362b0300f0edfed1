import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConsumeRequest } from '#features/pay-per-request/consume.routes.ts';
import { plainBodyOf } from '#features/pay-per-request/plain-consume.ts';
import type { Ctx } from '#platform/context.ts';
import { fingerprintsOf } from '#platform/db/idempotency-record.ts';
import { findUnacceptable } from '#platform/http/bodies/refused-content.ts';
import { textOf } from '#platform/http/bodies/request-body.ts';
import { unknownFields } from '#platform/http/refuse-invalid.ts';
import { SEED } from '../support/runner/env.ts';

const RUNS = 10_000;

const productId = fc.oneof(
  { weight: 6, arbitrary: fc.uuid() },
  fc.uuid().map((id) => id.toUpperCase()),
  fc.string(),
);
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const reference = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: visible, minLength: 1, maxLength: 90 }) },
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constant(`${'abandon '.repeat(11)}about`),
);
const customer = fc.oneof(
  { weight: 6, arbitrary: fc.record({ customer_ref: reference }) },
  fc.record({ customer_ref: reference, wallet_address: reference }, { requiredKeys: [] }),
  fc.jsonValue(),
);
const units = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 1_000_000_000 }) },
  fc.double(),
  fc.maxSafeInteger(),
  fc.jsonValue(),
);
const body = fc.oneof(
  { weight: 8, arbitrary: fc.record({ product_id: productId, customer, units }, { requiredKeys: ['product_id', 'customer'] }) },
  fc.record({ product_id: productId, customer, units, external_product_id: fc.string(), resource: fc.jsonValue() }, { requiredKeys: [] }),
  fc.record({ product_id: productId, customer, units, sign_in: fc.base64String() }, { requiredKeys: ['product_id', 'sign_in'] }),
  fc.record({ product_id: productId, customer, extra: fc.jsonValue(), __proto__: fc.constant(null) }, { requiredKeys: ['product_id'] }),
  fc.jsonValue(),
);
const text = fc.oneof(
  { weight: 8, arbitrary: body.map((value) => JSON.stringify(value)) },
  body.map((value) => JSON.stringify(value, null, 2)),
  body.map((value) => JSON.stringify(value).replace(/:(\d+)([,}])/, ':$1.0$2')),
  body.map((value) => `${JSON.stringify(value).slice(0, -1)},"units":1}`),
  body.map((value) => JSON.stringify(value).slice(1)),
  fc.string(),
);

describe('plainBodyOf', () => {
  it('every body that takes the plain path is valid for the route, with the same values and fingerprints', async () => {
    let plain = 0;
    const property = fc.asyncProperty(text, async (sent) => {
      const short = plainBodyOf(sent);
      if (!short) return;
      plain++;
      const received = JSON.parse(sent) as unknown;
      const read = ConsumeRequest.safeParse(received);
      expect(read.success).toBe(true);
      const validated = read.data!;
      expect([short.productId, short.customerRef, short.units]).toEqual([
        validated.product_id,
        validated.customer?.customer_ref,
        validated.units,
      ]);
      expect({ ...validated, product_id: undefined, customer: undefined, units: undefined }).toEqual({});
      expect([await findUnacceptable(received), unknownFields(ConsumeRequest, received)]).toEqual([null, []]);
      const full = fingerprintsOf({} as Ctx, { scope: '', key: '', text: sent });
      expect([short.fingerprint]).toEqual(full);
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED });
    expect(plain).toBeGreaterThan(RUNS / 20);
  });

  it('every plain consume body takes the plain path', () => {
    const plain = fc.record({
      product_id: fc.uuid(),
      customer: fc.record({ customer_ref: fc.string({ unit: visible, minLength: 1, maxLength: 85 }) }),
      units: fc.integer({ min: 1, max: 1_000_000_000 }),
    });
    fc.assert(
      fc.property(plain, (value) => plainBodyOf(JSON.stringify(value))?.units === value.units),
      { numRuns: 1000, seed: SEED },
    );
  });

  it('no body with a sign-in takes the plain path', () => {
    const named = { product_id: '01a1fc21-d414-7315-8bae-d95e4ff00293', sign_in: 'e30=' };
    for (const more of [{}, { units: 2 }, { customer: { customer_ref: 'ada' } }, { customer: { customer_ref: 'ada' }, units: 2 }])
      expect(plainBodyOf(JSON.stringify({ ...named, ...more }))).toBeNull();
  });
});

describe('textOf', () => {
  it('a body after invalid UTF-8 decodes without residue of the earlier one', () => {
    const bytesOf = (...bytes: number[]) => Uint8Array.from(bytes).buffer;
    const broken = [bytesOf(0x7b, 0xff), bytesOf(0x22, 0xe2, 0x82), bytesOf(0xef, 0xbb, 0xbf, 0x7b, 0x7d)];
    for (const bytes of broken) {
      expect(textOf(bytes)).toBeNull();
      expect(textOf(bytesOf(0x7b, 0x7d))).toBe('{}');
    }
  });
});
