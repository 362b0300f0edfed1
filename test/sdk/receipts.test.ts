// @module-tag quick
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { keyRing, sha256Hex } from '#core/crypto.ts';
import { base58, base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { verifyReceipt as verifyStored } from '#features/receipts/document.ts';
import { type ReceiptKeys, type SignedReceipt, verifyReceipt } from '../../sdk/src/verify/receipt.ts';
import { testEnv } from '../support/runner/env.ts';
import { type Merchant, World } from '../support/world.ts';

type Document = Record<string, unknown>;
/** Receipt as parsed JSON, in which a test changes anything. */
type Parsed = Omit<SignedReceipt, 'document'> & { document: Document };

const w = new World({ OPERATOR_NAME: 'Ada’s Operators ☂', OPERATOR_URL: 'https://operator.example.com' });
const RECEIPT_KEYS = String(w.env.RECEIPT_KEYS);
let merchant: Merchant;
let keys: ReceiptKeys;
/** Receipts of each form that the service issues or has issued. */
const issued: Record<string, Parsed> = {};

const read = async (id: string): Promise<Parsed> => (await w.call('GET', `/v1/receipt/${id}`, { key: merchant.key })).body;
const verify = (receipt: unknown, jwks: ReceiptKeys = keys) => verifyReceipt(receipt as SignedReceipt, jwks);
/** Signs a document as the service does. */
function seal(receipt: Parsed, document: Document): Parsed {
  const bytes = utf8(canonicalJson(document));
  const key = keyRing(RECEIPT_KEYS).find(({ keyId }) => keyId === receipt.key_id)!;
  return { ...receipt, document, sha256: sha256Hex(bytes), signature: base58.encode(key.sign(bytes)) };
}

/** Stores a receipt as releases of version 1 signed it: without exchange rate and operator. */
async function issueVersion1(id: string): Promise<void> {
  const receipt = await read(id);
  const { price_quote: _rate, operator: _operator, ...facts } = receipt.document;
  const { document, sha256, signature } = seal(receipt, { ...facts, version: '1' });
  await testEnv.DB.prepare('UPDATE receipts SET document = ?, sha256 = ?, signature = ? WHERE id = ?')
    .bind(canonicalJson(document), sha256, signature, id)
    .run();
}

beforeAll(async () => {
  merchant = await w.merchant();
  const product = await w.product(merchant, { name: 'Wetter "für" alle ☀️ \u2028 𝄞', accepted_assets: ['USDC', 'SOL'] });
  const buyer = await w.chain.wallet();
  const sale = async () => (await w.purchase(product, buyer)).confirmed.receipt_id;
  const inSol = await w.connect(product, { asset: 'SOL' });
  const { body: confirmed } = await w.confirm(inSol.payment_id, await w.chain.paySol(buyer, inSol));
  const first = await sale();
  await issueVersion1(first);
  Object.assign(issued, {
    'version 1': await read(first),
    'version 2': await read(await sale()),
    'version 2 in SOL': await read(confirmed.receipt_id),
  });
  keys = (await w.call('GET', '/.well-known/svc-receipt-keys.json')).body;
});

/** Paths of all values in a document. */
const pathsIn = (value: unknown, path: string[] = []): string[][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))
    : [path];
function alter(document: Document, path: string[]): Document {
  const copy = structuredClone(document);
  const [last, ...rest] = path.toReversed();
  const holder = rest.toReversed().reduce((object, name) => object[name] as Document, copy);
  const value = holder[last!];
  holder[last!] = typeof value === 'string' ? `${value}.` : typeof value === 'number' ? value + 1 : !value;
  return copy;
}

describe.each(['version 1', 'version 2', 'version 2 in SOL'])('receipt of %s', (name) => {
  it('verifies as the service itself verifies it, in the private and the public form', async () => {
    const receipt = issued[name]!;
    expect(receipt.document.version).toBe(name.slice(8, 9));
    expect(['price_quote', 'operator'].map((field) => field in receipt.document)).toEqual([name.endsWith('SOL'), name !== 'version 1']);
    const { body: service } = await w.call('GET', `/v1/receipt/${receipt.receipt_id}/verify`);
    const { body: proof } = await w.call('GET', `/v1/receipt/${receipt.receipt_id}/public`);
    const { document, sha256, signature, key_id } = receipt;
    for (const form of [receipt, proof, { document, sha256, signature, key_id }]) {
      const { checked_at, ...verification } = await verify(form);
      expect({ ...verification, checked_at: service.checked_at }).toEqual(service);
      expect(Date.now() - Date.parse(checked_at)).toBeLessThan(60_000);
    }
    expect(service.valid).toBe(true);
  });

  it('the order of its members does not matter', async () => {
    const receipt = issued[name]!;
    const document = Object.fromEntries(Object.entries(receipt.document).reverse());
    expect(Object.keys(document)).not.toEqual(Object.keys(receipt.document));
    expect((await verify({ ...receipt, document })).valid).toBe(true);
  });

  it('a change of any value of the document is found, with its own hash too', async () => {
    const receipt = issued[name]!;
    const paths = pathsIn(receipt.document);
    expect(paths.length).toBeGreaterThanOrEqual(16);
    for (const path of paths) {
      const document = alter(receipt.document, path);
      const sha256 = sha256Hex(utf8(canonicalJson(document)));
      const facts = { key_id: receipt.key_id, sha256, checked_at: expect.any(String), valid: false, signature_valid: false };
      expect([path, await verify({ ...receipt, document })]).toEqual([
        path,
        { ...facts, sha256_matches: false, reason: 'sha256_mismatch' },
      ]);
      const rehashed = await verify({ ...receipt, document, sha256 });
      expect([path, rehashed]).toEqual([path, { ...facts, sha256_matches: true, reason: 'signature_invalid' }]);
    }
  });

  it('a removed or added member is found', async () => {
    const receipt = issued[name]!;
    for (const field of Object.keys(receipt.document)) {
      const { [field]: _removed, ...document } = receipt.document;
      expect([field, (await verify({ ...receipt, document })).reason]).toEqual([field, 'sha256_mismatch']);
    }
    for (const extra of [{ note: 'paid' }, { note: null }, { version: { v: '2' } }, JSON.parse('{"__proto__": {"slot": 1}}')])
      expect((await verify({ ...receipt, document: Object.assign(Object.create(null), receipt.document, extra) })).reason).toBe(
        'sha256_mismatch',
      );
  });

  it('a change of any field next to the document has the reason that the service gives', async () => {
    const receipt = issued[name]!;
    const elsewhere = issued[name === 'version 1' ? 'version 2' : 'version 1']!;
    const changes: [Partial<Parsed>, string][] = [
      [{ sha256: receipt.sha256.toUpperCase() }, 'sha256_mismatch'],
      [{ sha256: '' }, 'sha256_mismatch'],
      [{ sha256: elsewhere.sha256 }, 'sha256_mismatch'],
      [{ signature: elsewhere.signature }, 'signature_invalid'],
      [{ key_id: '0'.repeat(16) }, 'unknown_key'],
      [{ key_id: '' }, 'unknown_key'],
      [{ key_id: '__proto__' }, 'unknown_key'],
      [{ key_id: keys.keys.find(({ kid }) => kid !== receipt.key_id)!.kid! }, 'signature_invalid'],
      [{ receipt_id: elsewhere.receipt_id! }, 'record_mismatch'],
      [{ tx_sig: elsewhere.tx_sig! }, 'record_mismatch'],
      [{ document: elsewhere.document }, 'sha256_mismatch'],
      [{ document: elsewhere.document, sha256: elsewhere.sha256 }, 'signature_invalid'],
      [{ document: elsewhere.document, sha256: elsewhere.sha256, signature: elsewhere.signature }, 'record_mismatch'],
      ...[
        '',
        '0OIl',
        'ü',
        '1'.repeat(64),
        `1${receipt.signature}`,
        ` ${receipt.signature}`,
        `${receipt.signature}1`,
        '2'.repeat(500_000),
      ].map((signature): [Partial<Parsed>, string] => [{ signature }, 'signature_invalid']),
    ];
    for (const [change, reason] of changes) {
      const changed = { ...receipt, ...change };
      const { checked_at: _, ...answer } = await verify(changed);
      const service = verifyStored(
        {
          document: canonicalJson(changed.document),
          sha256: changed.sha256,
          signature: changed.signature,
          keyId: changed.key_id,
          id: changed.receipt_id!,
          txSignature: changed.tx_sig!,
        },
        RECEIPT_KEYS,
      );
      expect(answer).toEqual({
        valid: false,
        reason: service.reason,
        sha256_matches: service.sha256Matches,
        signature_valid: service.signatureValid,
        key_id: changed.key_id,
        sha256: service.sha256,
      });
      expect([change, answer.reason]).toEqual([change, reason]);
    }
  });

  it('a signature with any bit changed is invalid', async () => {
    const receipt = issued[name]!;
    const bytes = base58.decode(receipt.signature);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const signature = base58.encode(bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)));
      const { reason } = await verify({ ...receipt, signature });
      if (reason !== 'signature_invalid') expect([bit, reason]).toBe('refused');
    }
  });
});

describe('base58', () => {
  it('a text that has the value of the signature, with a digit that is none, is no signature', async () => {
    const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
    const at = (slot: number) => seal(issued['version 2']!, { ...issued['version 2']!.document, slot });
    const receipt = Array.from({ length: 100 }, (_, slot) => at(slot)).find(({ signature }) => /[^z]z/.test(signature))!;
    // z is 57. With 0 as -1, the next higher digit and 0 have the value of a digit and z.
    const signature = receipt.signature.replace(/([^z])z/, (_, digit: string) => `${digits[digits.indexOf(digit) + 1]}0`);
    expect((await verify(receipt)).valid).toBe(true);
    expect((await verify({ ...receipt, signature })).reason).toBe('signature_invalid');
  });
});

describe('key sets', () => {
  it('a receipt verifies after a rotation, and with a set of the used key alone', async () => {
    const receipt = issued['version 2']!;
    const used = keys.keys.filter(({ kid }) => kid === receipt.key_id);
    expect([keys.keys.length, used.length]).toEqual([2, 1]);
    for (const set of [used, [...used, ...keys.keys], keys.keys.toReversed()])
      expect((await verify(receipt, { keys: set })).valid).toBe(true);
    const old = keyRing(RECEIPT_KEYS)[1]!;
    expect((await verify(seal({ ...receipt, key_id: old.keyId }, receipt.document))).valid).toBe(true);
  });

  it('a key of another kind or form is unknown, and another key of the same id verifies nothing', async () => {
    const receipt = issued['version 2']!;
    const jwk = keys.keys.find(({ kid }) => kid === receipt.key_id)!;
    const reason = async (...set: unknown[]) => (await verify(receipt, { keys: set } as ReceiptKeys)).reason;
    for (const key of [
      null,
      'x',
      {},
      { ...jwk, kty: 'EC' },
      { ...jwk, crv: 'X25519' },
      { ...jwk, x: 7 },
      { ...jwk, x: '' },
      { ...jwk, x: jwk.x!.slice(4) },
    ])
      expect([key, await reason(key)]).toEqual([key, 'unknown_key']);
    expect(await reason()).toBe('unknown_key');
    expect(['unknown_key', 'signature_invalid']).toContain(await reason({ ...jwk, x: base64url.encode(new Uint8Array(32).fill(7)) }));
    expect(await reason({ ...keys.keys.find(({ kid }) => kid !== jwk.kid), kid: jwk.kid })).toBe('signature_invalid');
  });
});

describe('values that are no receipt', () => {
  it.each([
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => JSON.stringify(issued['version 2'])],
    ['a number', () => 7],
    ['an empty object', () => ({})],
    ['a document without a signature', () => issued['version 2']!.document],
    ['a document as text', () => ({ ...issued['version 2'], document: canonicalJson(issued['version 2']!.document) })],
    ['a document that is a list', () => ({ ...issued['version 2'], document: [] })],
    ['a receipt without hash', () => ({ ...issued['version 2'], sha256: undefined })],
    ['a receipt without signature', () => ({ ...issued['version 2'], signature: null })],
    ['a receipt with a key id that is no text', () => ({ ...issued['version 2'], key_id: 7 })],
    ['an error of the service', () => ({ detail: 'Not found', code: 'not_found' })],
    ['a document with a bigint', () => ({ ...issued['version 2'], document: { slot: 1n } })],
    [
      'a document deeper than the stack',
      () => ({ ...issued['version 2'], document: JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) }),
    ],
  ])('%s throws TypeError', async (_name, make) => {
    await expect(verify(make())).rejects.toThrow(TypeError);
    await expect(verify(make())).rejects.toThrow(/^This is no receipt\. /);
  });

  it.each([[undefined], [null], [{}], [{ keys: {} }], [[]]])('%j as key set throws TypeError', async (jwks) => {
    await expect(verify(issued['version 2'], (jwks ?? null) as never)).rejects.toThrow(TypeError);
    await expect(verify(issued['version 2'], (jwks ?? null) as never)).rejects.toThrow(/JWK set.*svc-receipt-keys\.json/);
  });
});

describe('runtimes without Ed25519', () => {
  it('the error names the runtimes that have it', async () => {
    const missing = vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new DOMException('Unrecognized name.', 'NotSupportedError'));
    try {
      await expect(verify(issued['version 2'])).rejects.toThrow(/WebCrypto has no Ed25519 here\. Node 22, .*Chrome 137/);
    } finally {
      missing.mockRestore();
    }
    expect((await verify(issued['version 2'])).valid).toBe(true);
  });

  it('the error says so if WebCrypto is missing', async () => {
    vi.stubGlobal('crypto', {});
    try {
      await expect(verify(issued['version 2'])).rejects.toThrow(/WebCrypto is missing.*https/);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
