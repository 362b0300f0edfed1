import { keyRing, sha256Hex, verifyEd25519 } from '#core/crypto.ts';
import { base58, base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { type Money, type MoneyResource, toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';

/** Facts of a receipt, serialised by RFC 8785, hashed with SHA-256 and signed with Ed25519. Pure. */
export interface ReceiptFacts {
  receiptId: string;
  txSignature: string;
  network: string;
  slot: number;
  blockTime: number;
  payer: string;
  recipient: string;
  /** Total paid by the buyer, including any surplus. */
  amount: Money;
  fee: Money | null;
  productId: string;
  productName: string;
  merchant: { accountId: string; displayName: string };
  memo: string;
  issuedAt: number;
  livemode: boolean;
  quote?: { price: MoneyResource; rate: string; source: string; asOf: number } | null;
  operator?: { name: string; url: string } | null;
}

interface SignedDocument {
  document: string;
  sha256: string;
  signature: string;
  keyId: string;
}

/** Signs a receipt. The text is stored and served for ever as is, and never rebuilt. */
export function signReceipt(facts: ReceiptFacts, receiptKeys: string): SignedDocument {
  const document = canonicalJson({
    version: '2',
    receipt_id: facts.receiptId,
    tx_sig: facts.txSignature,
    network: facts.network,
    slot: facts.slot,
    block_time: iso(facts.blockTime),
    payer: facts.payer,
    recipient: facts.recipient,
    amount: toMoneyResource(facts.amount),
    ...(facts.fee ? { fee: toMoneyResource(facts.fee) } : {}),
    product_id: facts.productId,
    product_name: facts.productName,
    merchant: { account_id: facts.merchant.accountId, display_name: facts.merchant.displayName },
    memo: facts.memo,
    issued_at: iso(facts.issuedAt),
    livemode: facts.livemode,
    ...(facts.quote
      ? { price_quote: { price: facts.quote.price, rate: facts.quote.rate, source: facts.quote.source, as_of: iso(facts.quote.asOf) } }
      : {}),
    ...(facts.operator ? { operator: { name: facts.operator.name, url: facts.operator.url } } : {}),
  });
  const bytes = utf8(document);
  const [key] = keyRing(receiptKeys);
  return { document, sha256: sha256Hex(bytes), signature: base58.encode(key!.sign(bytes)), keyId: key!.keyId };
}

interface Verification {
  valid: boolean;
  reason?: 'sha256_mismatch' | 'signature_invalid' | 'unknown_key' | 'record_mismatch' | 'transaction_orphaned';
  sha256Matches: boolean;
  signatureValid: boolean;
  sha256: string;
}

/** Verifies a receipt from the stored bytes, and that its record matches the one it names. */
export function verifyReceipt(
  stored: SignedDocument & { id: string; txSignature: string; isOrphaned?: boolean },
  receiptKeys: string,
): Verification {
  const bytes = utf8(stored.document);
  const sha256 = sha256Hex(bytes);
  const sha256Matches = sha256 === stored.sha256;
  const key = keyRing(receiptKeys).find(({ keyId }) => keyId === stored.keyId);
  const signatureValid = key !== undefined && verifyEd25519(signatureBytes(stored.signature), bytes, key.publicKey);
  const reason = !key ? 'unknown_key' : !sha256Matches ? 'sha256_mismatch' : !signatureValid ? 'signature_invalid' : recordProblem(stored);
  return { valid: reason === undefined, ...(reason ? { reason } : {}), sha256Matches, signatureValid, sha256 };
}

function recordProblem(stored: { document: string; id: string; txSignature: string; isOrphaned?: boolean }) {
  const { receipt_id, tx_sig } = JSON.parse(stored.document) as { receipt_id: string; tx_sig: string };
  if (receipt_id !== stored.id || tx_sig !== stored.txSignature) return 'record_mismatch';
  return stored.isOrphaned ? 'transaction_orphaned' : undefined;
}

function signatureBytes(text: string): Uint8Array {
  try {
    return base58.decode(text);
  } catch {
    return new Uint8Array();
  }
}

/** RFC 7517 key set of all signing keys ever used, so that old receipts remain verifiable without this service. */
export const receiptKeySet = (receiptKeys: string) => ({
  keys: keyRing(receiptKeys).map(({ keyId, publicKey }) => ({
    kty: 'OKP' as const,
    crv: 'Ed25519' as const,
    x: base64url.encode(publicKey),
    kid: keyId,
    use: 'sig' as const,
    alg: 'EdDSA' as const,
  })),
});
