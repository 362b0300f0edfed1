import { beforeAll, describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '#core/errors.ts';
import { openApi } from '../support/clients/call.ts';
import { openScene, PROVOKED } from '../support/clients/provoke.ts';
import type { Answer } from '../support/world.ts';
import { codesNotBuiltYet, RETRYABLE, statusOfCode } from './spec-errors.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

const WAITING =
  'rate_limited payer_limit_reached idempotency_in_progress idempotency_race misconfigured price_unavailable rpc_unavailable temporarily_unavailable'.split(
    ' ',
  );
const LISTED = ['validation_error', 'unknown_field'];
const CARRIED: Partial<Record<ErrorCode, Record<string, RegExp>>> = {
  method_not_allowed: { Allow: /^[A-Z]+(?:, [A-Z]+)*$/ },
  payment_required: { 'PAYMENT-REQUIRED': /^[\w+/=-]{100,}$/ },
  entitlement_missing: { 'PAYMENT-REQUIRED': /^[\w+/=-]{100,}$/ },
  subscription_expired: { 'PAYMENT-REQUIRED': /^[\w+/=-]{100,}$/ },
  rate_limited: { 'X-RateLimit-Limit': /^\d+$/, 'X-RateLimit-Remaining': /^0$/, 'X-RateLimit-Reset': /^\d{10}$/ },
  idempotency_in_progress: { 'Retry-After': /^1$/ },
  idempotency_race: { 'Retry-After': /^1$/ },
};

describe('error codes', () => {
  let scene: Awaited<ReturnType<typeof openScene>>;
  beforeAll(async () => {
    scene = await openScene();
  });

  /** Checks the single error shape: exactly its fields, each of them usable by the caller. */
  function expectError(code: ErrorCode, status: number, { status: said, body, headers }: Answer<Record<string, unknown>>): void {
    expect([said, body.code]).toEqual([status, code]);
    expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'docs_url', 'meta', 'request_id', 'retryable']);
    if (LISTED.includes(code)) expect(body.detail).toEqual([expect.objectContaining({ loc: expect.any(Array), msg: expect.any(String) })]);
    else expect(body.detail).toMatch(/^[A-Z].{10,}[.:)]$/s);
    expect(body.meta).toBeTypeOf('object');
    expect(body.retryable).toBe(RETRYABLE.has(code));
    expect(body.docs_url).toBe(`https://svc.test/docs/errors/${code}`);
    expect(openApi['x-error-codes'][code]).toBeDefined();
    for (const name of ['X-Svc-Request-Id', 'X-Request-Id']) expect([name, headers.get(name)]).toEqual([name, body.request_id]);
    expect([headers.get('X-Svc-Api-Version'), headers.get('Content-Type')]).toEqual(['1.0.0', 'application/json']);
    expect([code, headers.has('Retry-After')]).toEqual([code, WAITING.includes(code)]);
    if (WAITING.includes(code)) expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
    for (const [name, pattern] of Object.entries(CARRIED[code] ?? {}))
      expect([name, headers.get(name)]).toEqual([name, expect.stringMatching(pattern)]);
    expect(JSON.stringify(body)).not.toMatch(/secret story|TypeError|D1_ERROR|SQLITE|select .* from|\bat \S+\.ts/i);
  }

  it('the specified, the implemented and the provoked error codes are the same set', () => {
    const promised = [...statusOfCode.keys()].filter((code) => !codesNotBuiltYet.has(code));
    expect(CODES.toSorted()).toEqual(promised.toSorted());
    expect(Object.keys(PROVOKED).sort()).toEqual(promised.toSorted());
  });

  it.each(CODES)('%s is answered with its status, shape and headers', async (code) => {
    expectError(code, statusOfCode.get(code)!, await PROVOKED[code](scene));
  });

  it('invalid_authorization has status 403 if a valid key contradicts the requested mode', async () => {
    const { w, ada } = scene;
    expectError('invalid_authorization', 403, await w.call('GET', '/v1/products?mode=sandbox', { key: ada.key }));
  });
});
