import canonicalize from 'canonicalize';
import { beforeAll, describe, expect, it } from 'vitest';
import { base58, base64url, utf8 } from '#core/encoding.ts';
import { type ReceiptFacts, receiptKeySet, signReceipt, verifyReceipt } from '#features/receipts/document.ts';

const seed = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));
const [OLD, NEW] = [seed(2), seed(3)];

const facts = (change: Partial<ReceiptFacts> = {}): ReceiptFacts => ({
  receiptId: '0197a3c0-0000-7000-8000-000000000001',
  txSignature: base58.encode(new Uint8Array(64).fill(6)),
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  slot: 42,
  blockTime: 1_700_000_000_000,
  payer: base58.encode(new Uint8Array(32).fill(4)),
  recipient: base58.encode(new Uint8Array(32).fill(5)),
  amount: { asset: 'USDC', units: 5_000_001n },
  fee: null,
  productId: '0197a3c0-0000-7000-8000-000000000002',
  productName: 'Wetter "für" alle ☀️',
  merchant: { accountId: '0197a3c0-0000-7000-8000-000000000003', displayName: 'Ada’s weather' },
  memo: 'svc:nonce',
  issuedAt: 1_700_000_001_500,
  livemode: true,
  ...change,
});
const stored = (change: Partial<ReceiptFacts> = {}, keys = OLD) => {
  const all = facts(change);
  return { ...signReceipt(all, keys), id: all.receiptId, txSignature: all.txSignature };
};

/** Yields every valid text that differs from `text` in one bit of its UTF-8. */
function* flippedTexts(text: string): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const bytes = utf8(text);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    try {
      yield decoder.decode(bytes);
    } catch {
      // Invalid UTF-8 cannot be stored or served as text.
    }
    bytes[bit >> 3]! ^= 1 << (bit & 7);
  }
}

describe('signReceipt and verifyReceipt', () => {
  it('a signed receipt verifies and returns its SHA-256', () => {
    const receipt = stored();
    expect(verifyReceipt(receipt, OLD)).toEqual({ valid: true, sha256Matches: true, signatureValid: true, sha256: receipt.sha256 });
    expect(verifyReceipt(stored({ fee: { asset: 'USDC', units: 7n } }), OLD).valid).toBe(true);
  });

  it('the document is canonical JSON of exactly the published fields', () => {
    for (const fee of [null, { asset: 'USDC', units: 50_000n } as const]) {
      const { document } = stored({ fee });
      expect(canonicalize(JSON.parse(document))).toBe(document);
      expect(JSON.parse(document)).toEqual({
        version: '2',
        receipt_id: facts().receiptId,
        tx_sig: facts().txSignature,
        network: facts().network,
        slot: 42,
        block_time: '2023-11-14T22:13:20.000Z',
        payer: facts().payer,
        recipient: facts().recipient,
        amount: { asset: 'USDC', amount: '5.000001', base_units: '5000001' },
        ...(fee ? { fee: { asset: 'USDC', amount: '0.05', base_units: '50000' } } : {}),
        product_id: facts().productId,
        product_name: 'Wetter "für" alle ☀️',
        merchant: { account_id: facts().merchant.accountId, display_name: 'Ada’s weather' },
        memo: 'svc:nonce',
        issued_at: '2023-11-14T22:13:21.500Z',
        livemode: true,
      });
    }
  });

  it('the same facts give the same bytes, and other facts give other bytes', () => {
    expect(stored()).toEqual(stored());
    for (const change of [
      { slot: 43 },
      { livemode: false },
      { productName: 'Wetter' },
      { amount: { asset: 'USDC', units: 5_000_002n } as const },
    ])
      expect(stored(change).sha256).not.toBe(stored().sha256);
  });

  it.each([0, 1, 2, 3])('a document with any single bit changed is invalid: quarter %i', (quarter) => {
    const receipt = stored();
    let tried = 0;
    for (const document of flippedTexts(receipt.document)) {
      if (tried++ % 4 !== quarter) continue;
      const verified = verifyReceipt({ ...receipt, document }, OLD);
      if (verified.valid || verified.sha256Matches || verified.signatureValid) expect(verified, document).toBe('invalid');
    }
    // Nearly every bit except the highest of each byte leaves valid text.
    expect(tried).toBeGreaterThan(receipt.document.length * 6);
  });

  it.each(['sha256', 'signature', 'keyId'] as const)('a receipt with any single bit of its %s changed is invalid', (field) => {
    const receipt = stored();
    let tried = 0;
    for (const text of flippedTexts(receipt[field])) {
      const verified = verifyReceipt({ ...receipt, [field]: text }, OLD);
      if (verified.valid) expect(verified, text).toBe('invalid');
      tried++;
    }
    expect(tried).toBeGreaterThanOrEqual(receipt[field].length * 7);
  });

  it('an invalid receipt has a reason', () => {
    const receipt = stored();
    const reasonOf = (change: Partial<typeof receipt>) => verifyReceipt({ ...receipt, ...change }, OLD).reason;
    expect(reasonOf({ keyId: '0'.repeat(16) })).toBe('unknown_key');
    expect(reasonOf({ sha256: '0'.repeat(64) })).toBe('sha256_mismatch');
    expect(reasonOf({ document: `${receipt.document} ` })).toBe('sha256_mismatch');
    expect(reasonOf({ signature: stored({ slot: 43 }).signature })).toBe('signature_invalid');
    for (const signature of ['', '0OIl', '1'.repeat(64), base58.encode(new Uint8Array(65))])
      expect(reasonOf({ signature }), signature).toBe('signature_invalid');
    expect(reasonOf({ id: '0197a3c0-0000-7000-8000-000000000009' })).toBe('record_mismatch');
    expect(reasonOf({ txSignature: base58.encode(new Uint8Array(64).fill(7)) })).toBe('record_mismatch');
  });

  it('a genuine receipt under another record is refused with record_mismatch', () => {
    const other = stored({ receiptId: '0197a3c0-0000-7000-8000-00000000000f' });
    const swapped = { ...other, id: facts().receiptId };
    expect(verifyReceipt(swapped, OLD)).toMatchObject({
      valid: false,
      reason: 'record_mismatch',
      sha256Matches: true,
      signatureValid: true,
    });
  });

  it('a receipt stays valid through a key rotation, and is unknown without its key', () => {
    const receipt = stored();
    expect(verifyReceipt(receipt, `${NEW},${OLD}`).valid).toBe(true);
    expect(verifyReceipt(stored({}, `${NEW},${OLD}`), NEW).valid).toBe(true);
    expect(verifyReceipt(receipt, NEW)).toMatchObject({ valid: false, reason: 'unknown_key', signatureValid: false });
  });
});

describe('independent receipt verification', () => {
  let keys: Map<string, CryptoKey>;
  beforeAll(async () => {
    const imported = receiptKeySet(`${NEW},${OLD}`).keys.map(
      async (jwk) => [jwk.kid, await crypto.subtle.importKey('jwk', jwk, { name: 'Ed25519' }, false, ['verify'])] as const,
    );
    keys = new Map(await Promise.all(imported));
  });

  /** Verifies with the document, its signature and the published keys alone. */
  const verifyElsewhere = async (receipt: { document: string; sha256: string; signature: string; keyId: string }): Promise<boolean> => {
    const bytes = utf8(receipt.document);
    const digest = [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('');
    const key = keys.get(receipt.keyId);
    return digest === receipt.sha256 && key !== undefined && crypto.subtle.verify('Ed25519', key, base58.decode(receipt.signature), bytes);
  };

  it('published keys and WebCrypto verify receipts of the old and the new key', async () => {
    for (const ring of [OLD, NEW, `${NEW},${OLD}`]) expect(await verifyElsewhere(stored({}, ring))).toBe(true);
  });

  it('a forged receipt is refused independently and by the service alike', async () => {
    const receipt = stored();
    const other = stored({ slot: 43 });
    const forged = [
      { ...receipt, document: receipt.document.replace('"slot":42', '"slot":43') },
      { ...receipt, document: other.document, sha256: other.sha256 },
      { ...receipt, signature: other.signature },
      { ...receipt, sha256: other.sha256 },
      { ...receipt, keyId: signReceipt(facts(), NEW).keyId },
    ];
    for (const receipt of forged) {
      expect(await verifyElsewhere(receipt)).toBe(false);
      expect(verifyReceipt(receipt, `${NEW},${OLD}`).valid).toBe(false);
    }
  });

  it('the published key set contains no private key', () => {
    const { keys } = receiptKeySet(`${NEW},${OLD}`);
    expect(keys).toHaveLength(2);
    for (const jwk of keys) {
      expect(Object.keys(jwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
      expect([OLD, NEW]).not.toContain(jwk.x);
    }
  });
});
