import { ed25519 } from '@noble/curves/ed25519.js';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { builtRoutes, fill, nameOf } from '../../contract/spec-routes.ts';
import { CONNECTOR_SECRETS, testEnv } from '../../support/runner/env.ts';
import { type Merchant, strangerAddress, World } from '../../support/world.ts';

const OFFER = { name: 'x', price: { asset: 'USDC', amount: '1' } };

describe('hostile text', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const create = async (terms: Record<string, unknown>) => {
    const made = await w.call('POST', '/v1/products', { key: ada.key, body: { ...OFFER, ...terms } });
    const { warnings: _warnings, ...body } = made.body;
    return { ...made, body };
  };

  it.each([
    ['SQL', "Robert'); DROP TABLE products;--"],
    ['a script', '"><script>alert(1)</script>'],
    ['a template', '{{7*7}} #{7*7} %s %n'],
    ['emoji with joiners', '👩‍👩‍👧‍👦 🏳️‍🌈 é é'],
    ['right-to-left overrides', 'abc‮fdp.exe‬ שלום'],
    ['line breaks and a bell', 'a\r\nSet-Cookie: x=1\u0007\t.'],
    ['a path', '../../etc/passwd\\..\\x'],
    ['a byte order mark and a line separator', '\uFEFFx\u2028\u2029y'],
  ])('%s is stored unchanged in every text field', async (_what, text) => {
    // Displayed names and lookup keys hold no control characters.
    const printable = text.replace(/\p{Cc}/gu, '');
    const [name, external] = [`x${printable}x`, `${crypto.randomUUID()} ${printable}.`];
    const { status, body } = await create({
      name,
      description: text,
      unit_name: text,
      external_product_id: external,
      metadata: { [text]: text },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name,
      description: text,
      unit_name: text,
      external_product_id: external,
      metadata: { [text]: text },
    });
    expect((await w.call('GET', `/v1/products/${body.product_id}`, { key: ada.key })).body).toEqual(body);
    const offer = await w.call('GET', `/v1/products/p/${body.slug}`);
    expect([offer.body.name, offer.headers.get('Content-Type'), offer.headers.get('X-Content-Type-Options')]).toEqual([
      name,
      'application/json',
      'nosniff',
    ]);
    const session = await w.call('POST', `/v1/products/p/${body.slug}/connect`, { body: {} });
    expect([409, 200]).toContain(session.status);
    const key = await w.call('POST', '/v1/keys', { key: ada.token, body: { name } });
    expect([key.status, key.body.key.name]).toEqual([201, name]);
  });

  it.each([
    ['a null byte', 'a\u0000b'],
    ['a lone surrogate', 'a\ud800b'],
  ])('%s is either refused or returned unchanged', async (_what, text) => {
    for (const terms of [
      { name: text },
      { description: text },
      { metadata: { key: text } },
      { metadata: { [text]: 'x' } },
      { external_product_id: text },
    ]) {
      const { status, body } = await create({ ...terms, payout_wallet: ada.wallet.address });
      if (status === 422) continue;
      expect(status).toBe(201);
      const again = await w.call('GET', `/v1/products/${body.product_id}`, { key: ada.key });
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(body));
      expect((await w.call('POST', `/v1/products/p/${body.slug}/connect`, { body: {} })).status).toBe(200);
    }
  });

  it('names of Object.prototype are plain metadata keys and change no object', async () => {
    const metadata = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c", "hasOwnProperty": "d"}') as Record<string, string>;
    const { status, body } = await create({ metadata });
    expect([status, body.metadata.constructor, body.metadata.toString, body.metadata.hasOwnProperty]).toEqual([201, 'b', 'c', 'd']);
    expect((await w.call('GET', `/v1/products/${body.product_id}`, { key: ada.key })).body).toEqual(body);
  });
});

describe('private keys and seed phrases', () => {
  const w = new World({ OPERATOR_SECRET: 'the secret of an operator in a test' });
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const seed = new Uint8Array(32).fill(5);
  const secretKey = new Uint8Array([...seed, ...ed25519.getPublicKey(seed)]);
  const phrase = (bytes: number) => entropyToMnemonic(new Uint8Array(bytes).fill(9), wordlist);
  const SECRETS: [string, unknown][] = [
    ['a secret key in base58', base58.encode(secretKey)],
    ['a secret key as a list of bytes', [...secretKey]],
    ['a secret key as the text of a wallet file', JSON.stringify([...secretKey])],
    ['a phrase of 12 words', phrase(16)],
    ['a phrase of 24 words', phrase(32)],
    ['a phrase in capitals with wide gaps', `  ${phrase(16).toUpperCase().replaceAll(' ', '   ')} `],
    ['a phrase with one word per line', phrase(16).replaceAll(' ', '\n')],
    ['a phrase between tabs', phrase(32).replaceAll(' ', '\t')],
  ];

  /** Calls with the first credential that the route admits, because a body is checked after the caller. */
  async function postAsAny(path: string, body: unknown) {
    const headers = {
      'Idempotency-Key': crypto.randomUUID(),
      'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0],
      'X-Svc-Operator-Secret': String(w.env.OPERATOR_SECRET),
      // Emails per address are limited on every deployment.
      'CF-Connecting-IP': strangerAddress(),
    };
    const callers = [{ key: ada.token }, { key: ada.key }, { key: ada.sandboxKey }];
    let answer = await w.call('POST', path, { headers, body });
    for (const caller of callers) if ([401, 403].includes(answer.status)) answer = await w.call('POST', path, { ...caller, headers, body });
    return answer;
  }

  it.each(SECRETS)('%s is refused in any field of any route, and nothing is stored', async (_what, secret) => {
    const count = async () =>
      (await testEnv.DB.prepare('SELECT (SELECT count(*) FROM products) + (SELECT count(*) FROM payments) AS n').first<{ n: number }>())!.n;
    const before = await count();
    for (const route of builtRoutes.filter(({ method, auth }) => method === 'POST' && !auth.endsWith('signature'))) {
      for (const body of [{ ...OFFER, description: secret }, { unknown: { deep: [secret] } }, { tx_signature: secret }, [secret]]) {
        const answer = await postAsAny(fill(route.path, { provider: 'telegram' }), body);
        expect([nameOf(route), answer.status, answer.body.code, answer.body.detail[0].type]).toEqual([
          nameOf(route),
          422,
          'validation_error',
          'secret_refused',
        ]);
        expect(JSON.stringify(answer.body)).not.toContain(String(secret).slice(0, 30));
      }
    }
    expect(await count()).toBe(before);
  });

  it('a seed phrase in JSON escapes is refused', async () => {
    const raw = `{"name":"x","price":{"asset":"USDC","amount":"1"},"description":"${phrase(16).replaceAll(' ', '\\u0020')}"}`;
    const { status, body } = await w.call('POST', '/v1/products', { key: ada.key, raw });
    expect([status, body.code]).toEqual([422, 'validation_error']);
  });

  it('a signature, an ordinary sentence of twelve terms and 64 bytes that are no key are accepted', async () => {
    const sentence = 'the quick brown fox jumps over the lazy dog and runs away again';
    const bytes = new Uint8Array(64).fill(7);
    const { status, body } = await w.call('POST', '/v1/products', {
      key: ada.key,
      body: { ...OFFER, description: sentence, metadata: { signature: base58.encode(bytes), bytes: JSON.stringify([...bytes]) } },
    });
    expect([status, body.description]).toEqual([201, sentence]);
  });

  it('a body full of near misses gets its ordinary validation error', async () => {
    const one = base58.encode(new Uint8Array(64).fill(7));
    const many = Array.from({ length: Math.floor((64 * 1024 - 100) / (one.length + 3)) }, () => one);
    const { status, body } = await w.call('POST', '/v1/auth/login', { body: many });
    expect([status, body.detail[0].type]).toEqual([422, 'invalid_type']);
  });
});

describe('malformed encodings', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('a request with malformed bytes gets the error shape', async () => {
    for (const path of [
      '/v1/products/p/%ff',
      '/v1/products/%E0%A4%A',
      '/v1/products?page=%ff',
      '/v1/memberships/lookup?email=%00%ff',
      '/v1/payments/%2f%2f',
    ]) {
      const { status, body } = await w.call('GET', path, { key: ada.key });
      expect([path, typeof body.code, status >= 400 && status < 500]).toEqual([path, 'string', true]);
    }
    const raw = await w.call('POST', '/v1/products', {
      key: ada.key,
      raw: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(raw.status).toBe(422);
  });
});
